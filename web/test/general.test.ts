import { expect, test } from "vitest";
import type { GeneralCandidate } from "../src/api/types";
import { asOthers, followedBy, matchedAs } from "../src/general";

const unit = (text: string, name: string | null = null) => ({ text, class: name });
const seen = (count: number, total: number, name: string | null = null) =>
  followedBy({ count, total, class: name } as GeneralCandidate);

test("a context is shown with classes in place of words", () => {
  const context = [unit("Anna"), unit("drives"), unit("a"), unit("Fiat", "car"), unit("to")];
  expect(matchedAs({ context })).toBe("Anna drives a ‹car› to");
});

test("punctuation stands by the word before it, and an opening sign by itself", () => {
  const context = [unit("Yes"), unit(","), unit("Fiat", "car"), unit("."), unit("("), unit("and")];
  expect(matchedAs({ context })).toBe("Yes, ‹car›. ( and");
});

test("words that stand for others are named, each with its own", () => {
  expect(
    asOthers([
      ["Fiat", "Volvo"],
      ["Ben", "Anna"],
    ]),
  ).toBe("Fiat as Volvo, Ben as Anna");
});

test("what followed is the token itself, or its class", () => {
  expect(seen(1, 1)).toBe("seen once: always followed by this");
  expect(seen(2, 3, "city")).toBe("seen 3 times: followed by ‹city› 2 times");
});
