// The place of an excerpt in a document, and as much of the text around it as a page can show.

import type { Excerpt } from "./api/types";

export interface Located {
  before: string;
  mark: string;
  after: string;
  /** Not all of the text is there. */
  cut: boolean;
}

const LONGEST = 100_000;

export function locate(text: string, excerpt: Excerpt | null, longest = LONGEST): Located {
  const mark = excerpt ? excerpt.match + excerpt.token : "";
  const place = excerpt ? text.indexOf(excerpt.before + mark + excerpt.after) : -1;
  const start = place < 0 || !excerpt ? 0 : place + excerpt.before.length;
  const end = place < 0 ? 0 : start + mark.length;
  const first = Math.max(0, Math.min(start - longest / 2, text.length - longest));
  const last = Math.max(end, first + longest);
  return {
    before: text.slice(first, start),
    mark: text.slice(start, end),
    after: text.slice(end, last),
    cut: first > 0 || last < text.length,
  };
}
