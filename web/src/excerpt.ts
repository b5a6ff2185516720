// The place of an excerpt in a document, and the document in parts that a browser can show however long it is.

import type { Excerpt } from "./api/types";

/** Characters from `start` up to `end`. */
export interface Place {
  start: number;
  end: number;
}

/** Where an excerpt stands: where its surroundings match, too. */
export function locate(text: string, excerpt: Excerpt | null): Place | null {
  if (!excerpt) return null;
  const mark = excerpt.match + excerpt.token;
  const at = text.indexOf(excerpt.before + mark + excerpt.after);
  if (at < 0) return null;
  const start = at + excerpt.before.length;
  return { start, end: start + mark.length };
}

/** Characters of a part. Parts out of sight cost next to nothing, and a part is laid out at once. */
const PART = 20_000;

/** All of a text in parts, cut at line breaks if there are any, else at spaces, and not in the place to be kept whole. */
export function parts(text: string, keep: Place | null, size = PART): Place[] {
  const found: Place[] = [];
  for (let start = 0; start < text.length; ) {
    let end = start + size < text.length ? cutBefore(text, start, start + size) : text.length;
    if (keep && keep.start < end && end < keep.end) end = keep.end;
    found.push({ start, end });
    start = end;
  }
  return found;
}

function cutBefore(text: string, start: number, end: number): number {
  for (const sign of ["\n", " "]) {
    const at = text.lastIndexOf(sign, end - 1);
    if (at >= start) return at + 1;
  }
  // Not between the halves of a character.
  return /[\uD800-\uDBFF]/.test(text[end - 1]!) && end - 1 > start ? end - 1 : end;
}
