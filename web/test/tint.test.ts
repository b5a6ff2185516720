import { expect, test } from "vitest";
import { knew, sureness, thickness, title } from "../src/tint";

test("colour is never alone: words say how sure and which layer", () => {
  expect(title({ probability: 0.972, layer: 3, context_tokens: 4 })).toBe(
    "97.2 %, sure; layer 3, 4 tokens of context",
  );
  expect([0.9, 0.5, 0.1].map(sureness)).toEqual(["sure", "fairly sure", "guessing"]);
  expect(knew({ layer: null, context_tokens: null })).toBe("no context knew it");
  expect(knew({ layer: 1, context_tokens: 1 })).toBe("layer 1, 1 token of context");
});

test("a higher layer has a thicker line; none has none", () => {
  expect([1, 2, 3, 4, 5].map((layer) => thickness(layer, 5))).toEqual([1, 2, 3, 4, 5]);
  const many = Array.from({ length: 12 }, (_, index) => thickness(index + 1, 12));
  expect(many).toEqual([...many].sort((a, b) => a - b));
  expect([many[0], many.at(-1)]).toEqual([1, 5]);
  expect(thickness(null, 5)).toBe(0);
});
