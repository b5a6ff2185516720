import { expect, test } from "vitest";
import { locate, parts } from "../src/excerpt";

const excerpt = { before: "The ferry", match: " leaves at", token: " seven", after: " in the" };
const text = "A train leaves at seven. The ferry leaves at seven in the morning.";

test("the excerpt is found where its surroundings match, not where it first reads alike", () => {
  const place = locate(text, excerpt)!;
  expect(text.slice(0, place.start)).toBe("A train leaves at seven. The ferry");
  expect(text.slice(place.start, place.end)).toBe(" leaves at seven");
});

test("without an excerpt, or with one that is gone, no place is marked", () => {
  for (const gone of [null, { ...excerpt, token: " nine" }]) expect(locate(text, gone)).toBeNull();
});

test("parts are all of a text, cut where it can be cut, and never in a mark", () => {
  const lines = Array.from({ length: 50 }, (_, i) => `line ${i} of some words${i % 7 ? "\n" : " "}`).join("");
  for (const long of [lines, "x".repeat(1000), "🦉".repeat(300), lines.replace(/\n/g, " "), ""]) {
    for (const keep of [null, { start: 95, end: 130 }, { start: 0, end: 300 }]) {
      const cut = parts(long, keep, 100);
      expect(cut.map(({ start, end }) => long.slice(start, end)).join("")).toBe(long);
      expect(cut.some(({ end }) => keep && keep.start < end && end < Math.min(keep.end, long.length))).toBe(false);
      for (const { start, end } of cut) expect(encodeURIComponent.bind(null, long.slice(start, end))).not.toThrow();
    }
  }
  expect(parts(lines, null, 100).every(({ end }) => end === lines.length || /\s/.test(lines[end - 1]!))).toBe(true);
});
