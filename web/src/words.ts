// Words of a text that comes in tokens: a word may be several of them, and is then shown as one, with its pieces inside.

import type { Token } from "./api/types";

/** Tokens from `start` up to `end` that make a word; most words are one token, and what stands between words is, too. */
export interface Word {
  start: number;
  end: number;
  text: string;
  /** Of all its tokens, one after the other. */
  probability: number;
  /** The tokens of the longest context that knew its first token. */
  context_tokens: number | null;
  /** What the memory and a model beside it give its first token. */
  mixture: Token["mixture"];
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** Places inside words: what stands on both sides of one belongs together. */
function insides(text: string): Set<number> {
  const inside = new Set<number>();
  for (const { index, segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike) for (let at = 1; at < segment.length; at++) inside.add(index + at);
  }
  return inside;
}

type Piece = Pick<Token, "text" | "probability" | "context_tokens"> & { mixture?: Token["mixture"] };

export function wordsIn(tokens: Piece[]): Word[] {
  const inside = insides(tokens.map(({ text }) => text).join(""));
  const words: Word[] = [];
  let at = 0;
  tokens.forEach(({ text, probability, context_tokens, mixture = null }, index) => {
    const last = words.at(-1);
    // A token without a text is a part of a letter.
    if (last && (inside.has(at) || last.text === "")) {
      last.end = index + 1;
      last.text += text;
      last.probability *= probability;
    } else words.push({ start: index, end: index + 1, text, probability, context_tokens, mixture });
    at += text.length;
  });
  return words;
}
