// Generalised evidence in words: what a context was matched as, in place of which words, and what followed.

import type { GeneralCandidate } from "./api/types";
import { times } from "./evidence";

/** A class as people see it. */
export const classed = (name: string): string => `‹${name}›`;

/** The context with classes in place of the words that have one: Anna drives a ‹car› to. */
export const matchedAs = ({ context }: Pick<GeneralCandidate, "context">): string =>
  context
    .map(({ text, class: name }) => (name === null ? text : classed(name)))
    .join(" ")
    // Punctuation stands by the word before it.
    .replace(/ (?=[.,;:!?)\]}’”]+( |$))/g, "");

/** The words that stand for others: Fiat as Volvo. */
export const asOthers = (differences: string[][]): string => differences.map(([ours, theirs]) => `${ours} as ${theirs}`).join(", ");

/** How often it occurred, and what followed. */
export function followedBy({ class: name, count, total }: Pick<GeneralCandidate, "class" | "count" | "total">): string {
  const what = name === null ? "this" : classed(name);
  return `seen ${times(total)}: ${count === total ? `always followed by ${what}` : `followed by ${what} ${times(count)}`}`;
}
