import { expect, test } from "vitest";
import { cut, wordsOf } from "../src/classes";

const word = (word: string, start: number) => ({ word, start, end: start + [...word].length, classes: [{ level: 0, class: "car" }] });
const [fiat, volvo] = [word("Fiat", 3), word("Volvo", 8)];

test("a word of several tokens is one word, with the space before it or not", () => {
  // A 🚗 is one character, and two units of a string here.
  const found = wordsOf(["🚗 ", " F", "ia", "t", " Vol", "vo", "!"], [fiat, volvo]);
  expect(found).toEqual([null, fiat, fiat, fiat, volvo, volvo, null]);
});

test("tokens after a prompt are counted from its end", () => {
  expect(wordsOf(["at", " Volvo"], [fiat, volvo], 5)).toEqual([fiat, volvo]);
});

test("a token of several words stands for the first", () => {
  expect(wordsOf(["my Fiat Volvo"], [fiat, volvo])).toEqual([fiat]);
});

test("a prompt is cut at its words, whatever stands between", () => {
  expect(cut("🚗! Fiat Volvo, so", [fiat, volvo])).toEqual([
    { text: "🚗! ", word: null },
    { text: "Fiat", word: fiat },
    { text: " ", word: null },
    { text: "Volvo", word: volvo },
    { text: ", so", word: null },
  ]);
  expect(cut("no car", [])).toEqual([{ text: "no car", word: null }]);
});

test("of a word that goes on after the prompt only the part before is the prompt's", () => {
  expect(cut("my Fi", [fiat])).toEqual([
    { text: "my ", word: null },
    { text: "Fi", word: fiat },
  ]);
});
