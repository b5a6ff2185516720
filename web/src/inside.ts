// The memory at work on a sentence, as rows to be drawn: a layer each, with the block that it reads, and what that adds.

import type { Breakdown, CandidateShares, ContextBreakdown, SlotStats } from "./api/types";
import { count, plural, visible } from "./format";

/** A token of the sentence as it is drawn: its text, and the room that it takes, in characters. */
export interface Column {
  text: string;
  room: number;
  /** The tokens of the longest block before it that was seen with it next; null if it was never seen so. */
  foretold: number | null;
}

const ROOM = { least: 2, most: 12 };

/** The last tokens of a sentence, as many as there is room for. `foretold` is by token, and may be of more tokens than the sentence has here. */
export function columns(texts: string[], foretold: (number | null)[], room: number): Column[] {
  const shown: Column[] = [];
  let left = room;
  for (let at = texts.length - 1; at >= 0; at--) {
    const text = visible(texts[at]!);
    const width = Math.min(ROOM.most, Math.max(ROOM.least, [...text].length)) + 1;
    left -= width;
    if (left < 0 && shown.length > 0) break;
    shown.unshift({ text, room: width, foretold: foretold[foretold.length - texts.length + at] ?? null });
  }
  return shown;
}

/** A layer: a context, what it adds to the candidate, and where it is among the contexts. */
export interface Row {
  context: ContextBreakdown;
  adds: number;
  key: string;
}

/** The layers in order: those that occurred, and the first of tokens that did not, which ends the search. */
export function rows({ contexts }: Breakdown, candidate: CandidateShares | null): Row[] {
  const all = contexts.map((context, at) => ({
    context,
    adds: candidate?.contexts[at] ?? 0,
    key: `${context.unit} ${context.length} ${context.from_start}`,
  }));
  const missing = all.find(({ context: { total, from_start } }) => total === 0 && !from_start);
  return all.filter((row) => row.context.total > 0 || row === missing);
}

/** What else the sum has: each with its name and what it is. */
export function others({ quote, general, recent }: Breakdown, candidate: CandidateShares): { name: string; what: string; adds: number }[] {
  const terms = [
    { name: "Before any layer", what: "after how many different tokens it was seen, in all texts", adds: candidate.prior, of: 1 },
    { name: "A quote", what: "the longest block again, because the sentence is probably being quoted", adds: candidate.quote, of: quote },
    { name: "The lexicon", what: "blocks in which words count as their classes", adds: candidate.general, of: general },
    { name: "The sentence itself", what: "what it says already is expected again", adds: candidate.recent, of: recent },
  ];
  return terms.filter(({ of }) => of > 0);
}

/** Which context a layer has. */
export function layer({ unit, length, from_start }: Pick<ContextBreakdown, "unit" | "length" | "from_start">): string {
  if (from_start && length === 0) return "the beginning";
  if (unit === "skip") return "last token but one";
  const things = plural(length, unit === "words" ? "word" : "token");
  return from_start ? `all ${count(length)} ${things}, as a beginning` : `last ${length === 1 ? "" : `${count(length)} `}${things}`;
}

/** What a layer says, in words. */
export function says({ total, kinds, successors, weight }: ContextBreakdown): string {
  if (total === 0) return "never seen: longer blocks were not, either";
  const seen = total === 1 ? "seen once" : `seen ${count(total)} times`;
  if (successors.length === 0 && weight === 0) return `${seen}; a longer block of tokens knows better`;
  const then = successors.map(({ text, count: times }) => `${text === "" ? "the end" : visible(text)} ×${count(times)}`);
  const more = kinds > successors.length ? `, and ${count(kinds - successors.length)} more` : "";
  return `${seen}, then ${then.join(", ")}${more}`;
}

/** How rarely something happens. */
export function oneIn(probability: number): string {
  if (probability <= 0) return "never";
  const times = 1 / probability;
  if (times < 10) return `1 in ${times.toFixed(1)}`;
  // Two digits say enough.
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(times)) - 1);
  return `1 in ${count(Math.round(times / unit) * unit)}`;
}

/** Rows in use of all that a slot has. */
export function used({ table, rows, exact }: SlotStats, of: number): string {
  if (rows === null) return "not kept when frozen";
  const about = exact ? "" : "about ";
  return table === "pairs" ? `${about}${count(rows)}, one a token` : `${about}${count(rows)} of ${count(of)}`;
}
