import { expect, test } from "vitest";
import { ago, bytes, count, percent, plural, share, short, tail, visible } from "../src/format";

test("a percentage never claims a certainty that is not there", () => {
  expect([0, 0.00004, 0.123, 0.9994, 0.99999, 1].map(percent)).toEqual([
    "0 %",
    "< 0.1 %",
    "12.3 %",
    "> 99.9 %",
    "> 99.9 %",
    "100 %",
  ]);
});

test("counts, plurals and sizes", () => {
  expect(count(1234567.4)).toBe("1,234,567");
  expect([plural(1, "token"), plural(0, "token")]).toEqual(["token", "tokens"]);
  expect([bytes(0), bytes(512), bytes(5_452_595), bytes(3 * 2 ** 40)]).toEqual(["0 bytes", "512 bytes", "5.2 MiB", "3.0 TiB"]);
});

test("times are told by how long ago they were", () => {
  const now = Date.UTC(2026, 10, 16, 7, 42, 42);
  expect(ago("2026-11-16T07:42:40.000Z", now)).toBe("just now");
  expect(ago("2026-11-16T07:30:00.042Z", now)).toBe("12 min ago");
  expect(ago("2026-11-15T22:10:03.000Z", now)).toBe("9 h ago");
  expect(ago("2026-10-01T00:00:00.000Z", now)).toBe("2026-10-01");
  expect(ago("never", now)).toBe("never");
});

test("tokens, digests and long prompts can be read at a glance", () => {
  expect([visible(" and"), visible("\n\n"), visible("a b"), visible(" ")]).toEqual(["·and", "↵↵", "a b", "·"]);
  expect(short("e83a503842668cbd93372661fbcba883fa91c2bbf2267af1f9fdb89163ae945a")).toBe("e83a5038…945a");
  expect(tail("short", 10)).toBe("short");
  expect(tail("the ferry leaves at seven", 12)).toBe("… at seven");
});

test("small shares of a sum keep a digit", () => {
  expect(share(0.25)).toBe("25.0 %");
  expect(share(0.000_31)).toBe("0.03 %");
  expect(share(0.000_002)).toBe("0.0002 %");
  expect(share(0)).toBe("0 %");
});
