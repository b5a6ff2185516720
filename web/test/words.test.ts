import { expect, test } from "vitest";
import { wordsIn } from "../src/words";

const token = (text: string, probability = 1, context_tokens: number | null = 1) => ({ text, probability, context_tokens });
const texts = (...tokens: string[]) => wordsIn(tokens.map((text) => token(text))).map(({ text }) => text);

test("pieces of a word are one word, which is as probable as all of them", () => {
  const [to, saltmarsh] = wordsIn([token(" to"), token(" Salt", 0.5, 3), token("m", 0.5, 9), token("arsh", 1, 9)]);
  expect(to).toMatchObject({ start: 0, end: 1, text: " to" });
  expect(saltmarsh).toEqual({ start: 1, end: 4, text: " Saltmarsh", probability: 0.25, mixture: null, context_tokens: 3 });
});

test("an apostrophe is inside a word, punctuation and line breaks are not", () => {
  expect(texts(" don", "'t", ",", " 12", "34", ".", "\n", "Next")).toEqual([" don't", ",", " 1234", ".", "\n", "Next"]);
});

test("a letter that is several tokens is not torn apart", () => {
  expect(texts(" caf", "", "é", " now")).toEqual([" café", " now"]);
  expect(texts("", "", "🦉", " x")).toEqual(["🦉", " x"]);
});

test("where words are not divided by spaces, each is still one", () => {
  expect(texts("図", "書", "館")).toEqual(["図書館"]);
});
