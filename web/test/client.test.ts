import { expect, test, vi } from "vitest";
import { reachable, Refusal, send, useKeyring, words } from "../src/api/client";
import { json, refusal, serve } from "./server";

test("a refusal carries the server's own words", async () => {
  serve({ documents: refusal(404, "There is no such document.", "not_found") });
  const error = await send("documents", { json: {} }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Refusal);
  expect(error).toMatchObject({ status: 404, message: "There is no such document.", code: "not_found" });
});

test("no answer at all is known, until there is one", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  await expect(send("stats")).rejects.toThrow("does not answer");
  expect(reachable.value).toBe(false);
  serve({ stats: json({}) });
  await send("stats");
  expect(reachable.value).toBe(true);
});

test("a missing key is asked for, and the request is made again with it", async () => {
  let key: string | null = null;
  useKeyring({
    key: () => key,
    ask: async (refused) => {
      expect(refused).toBe(key);
      key = key ? "right" : "wrong";
    },
  });
  const asked = serve({
    stats: ({ authorization }) => (authorization === "Bearer right" ? json({}) : refusal(401, "a key is needed")),
  });
  expect((await send("stats")).ok).toBe(true);
  expect(asked.map(({ authorization }) => authorization)).toEqual([null, "Bearer wrong", "Bearer right"]);
});

test("what a browser says of a broken connection is said in words", () => {
  expect(words(new TypeError("network error"))).toMatch(/broke off/);
  expect(words(new Refusal(400, "The text is empty."))).toBe("The text is empty.");
});

test("numbers of bytes are said as people say them", () => {
  expect(words(new Refusal(413, "a request may have at most 67108864 bytes"))).toBe("a request may have at most 64 MiB");
  expect(words("needs about 1500000 bytes, and 12 bytes are free")).toBe("needs about 1.4 MiB, and 12 bytes are free");
});
