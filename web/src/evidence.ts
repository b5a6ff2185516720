// Evidence in words: after which contexts a token was seen, and how often.

import type { SlotEvidence } from "./api/types";
import { count, plural } from "./format";

/** Contexts of one kind that say the same, from the shortest to the longest. */
export interface Seen extends SlotEvidence {
  shortest: number;
}

/** Joins neighbours that say the same: a text seen once would otherwise repeat itself for every length. */
export function joined(evidence: SlotEvidence[]): Seen[] {
  const seen: Seen[] = [];
  for (const each of evidence) {
    const last = seen.at(-1);
    if (last && alike(last, each)) last.length = each.length;
    else seen.push({ ...each, shortest: each.length });
  }
  return seen;
}

const alike = (a: SlotEvidence, b: SlotEvidence): boolean =>
  a.unit === b.unit && a.count === b.count && a.total === b.total && !a.from_start && !b.from_start;

/** Which context it is. */
export function after({ unit, shortest, length, from_start }: Seen): string {
  const [one, whatever] = unit === "words" ? ["word", ", whatever their case"] : ["token", ""];
  if (from_start && length === 0) return "where a document begins";
  if (unit === "skip") return "after the last token but one, whatever the last is";
  const things = plural(length, one);
  if (from_start) return `after the first ${length === 1 ? "" : `${length} `}${things} of a document${whatever}`;
  if (shortest < length) return `after the last ${shortest} to ${length} ${things}${whatever}`;
  return `after the last ${length === 1 ? "" : `${length} `}${things}${whatever}`;
}

export const times = (n: number): string => (n === 1 ? "once" : `${count(n)} times`);

/** How often it occurred, and what followed. */
export const followed = ({ count, total }: Pick<SlotEvidence, "count" | "total">): string =>
  `seen ${times(total)}: ${count === total ? "always followed by this" : `followed by this ${times(count)}`}`;
