// What came of a completion, in words: how long it is, why it ended, and how its prompt was found.

import type { CompletionEnd, PromptMatch } from "./api/types";
import { count, plural, tail } from "./format";

const ENDS: Partial<Record<CompletionEnd["finish_reason"], string>> = {
  end: "; the text ended here",
  length: "; there may be more",
  unknown: "; the memory does not know how it goes on",
  loop: "; it began to repeat itself",
};

/** How a prompt was found, unless it stands in the memory as it is, and what was continued in its place. */
function found({ kind, tokens, of, typed, remembered }: PromptMatch, continued: CompletionEnd["continued"]): string {
  const instead = continued ? ` Continued: “${tail(continued.text.trim(), 80)}”.` : "";
  if (kind === "near" && typed !== null && remembered !== null)
    return ` Found nearly: the memory has “${remembered.trim()}” where you have “${typed.trim()}”.${instead}`;
  if (kind === "near") return ` Found in another case or layout.${instead}`;
  if (kind === "general")
    return ` Only the last ${count(tokens)} of the prompt's ${count(of)} tokens are known: what follows may be from elsewhere.`;
  return "";
}

export function summary(end: CompletionEnd): string {
  const { tokens, tokens_per_second, finish_reason, matched, continued } = end;
  if (tokens === 0 && matched?.kind === "none") return "The memory does not know this, and has nothing to say after it.";
  const how = matched ? found(matched, continued) : "";
  if (tokens === 0) return `The memory has nothing to say after this.${how}`;
  const length = `${count(tokens)} ${plural(tokens, "token")}, ${count(tokens_per_second)} a second`;
  return `${length}${ENDS[finish_reason] ?? ""}.${how}`;
}
