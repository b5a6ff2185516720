// How a token looks: its colour says how sure the memory is, its underline how long a context knew it. Words say both again.

import type { Token } from "./api/types";
import { percent, plural } from "./format";

export const sureness = (probability: number): string =>
  probability >= 0.9 ? "sure" : probability >= 0.5 ? "fairly sure" : "guessing";

/** Where underlines become thicker, in tokens of context. */
export const STEPS = [1, 2, 4, 8, 16];

/** Pixels of underline: more for a longer context; none when no context knew the token. */
export function thickness(context: number | null): number {
  if (context === null) return 0;
  return Math.max(1, STEPS.filter((step) => step <= context).length);
}

export function knew({ context_tokens }: Pick<Token, "context_tokens">): string {
  if (context_tokens === null) return "never seen after these tokens";
  if (context_tokens === 0) return "seen where a document begins";
  return `seen after the last ${context_tokens === 1 ? "" : `${context_tokens} `}${plural(context_tokens, "token")}`;
}

export const title = (token: Pick<Token, "probability" | "context_tokens">): string =>
  `${percent(token.probability)}, ${sureness(token.probability)}; ${knew(token)}`;
