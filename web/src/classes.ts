// Which words of a text have classes, and which pieces of the text they are made of.

import type { ClassifiedWord } from "./api/types";

/** A piece of a text, and the word with classes that it is part of. */
export interface Piece {
  text: string;
  word: ClassifiedWord | null;
}

const length = (text: string): number => [...text].length;

/** The first word with classes that each of some consecutive texts has a part of. Places count characters from `start`. */
export function wordsOf(texts: string[], words: ClassifiedWord[], start = 0): (ClassifiedWord | null)[] {
  let [at, next] = [start, 0];
  return texts.map((text) => {
    const end = at + length(text);
    while (next < words.length && words[next]!.end <= at) next++;
    const word = words[next];
    at = end;
    return word && word.start < end ? word : null;
  });
}

/** A text cut at its words with classes. */
export function cut(text: string, words: ClassifiedWord[]): Piece[] {
  const characters = [...text];
  const pieces: Piece[] = [];
  const push = (from: number, to: number, word: ClassifiedWord | null) => {
    if (from < to) pieces.push({ text: characters.slice(from, to).join(""), word });
  };
  let at = 0;
  // A word at the end may go on in what follows the text.
  for (const word of words.filter(({ start }) => start < characters.length)) {
    push(at, word.start, null);
    push(word.start, Math.min(word.end, characters.length), word);
    at = word.end;
  }
  push(at, characters.length, null);
  return pieces;
}
