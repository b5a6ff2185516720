import { expect, test } from "vitest";
import { knew, sureness, thickness, title } from "../src/tint";

test("colour is never alone: words say how sure and after what", () => {
  expect(title({ probability: 0.972, context_tokens: 4 })).toBe("97.2 %, sure; seen after the last 4 tokens");
  expect([0.9, 0.5, 0.1].map(sureness)).toEqual(["sure", "fairly sure", "guessing"]);
  expect([null, 0, 1].map((context_tokens) => knew({ context_tokens }))).toEqual([
    "never seen after these tokens",
    "seen where a document begins",
    "seen after the last token",
  ]);
});

test("a longer context has a thicker line; none has none", () => {
  expect([0, 1, 2, 3, 4, 8, 12, 16, 64].map(thickness)).toEqual([1, 1, 2, 2, 3, 4, 4, 5, 5]);
  expect(thickness(null)).toBe(0);
});
