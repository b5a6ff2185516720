// How a token looks: its colour says how sure the memory is, its underline which layer spoke. Words say both again.

import type { Token } from "./api/types";
import { percent, plural } from "./format";

export const sureness = (probability: number): string =>
  probability >= 0.9 ? "sure" : probability >= 0.5 ? "fairly sure" : "guessing";

/** The thickest underline, in pixels. */
const THICKEST = 5;

/** Pixels of underline: more for a higher layer, which sees more of the text; none when no context knew the token. */
export function thickness(layer: number | null, layers: number): number {
  if (layer === null) return 0;
  return layers <= THICKEST ? layer : Math.max(1, Math.round((layer / layers) * THICKEST));
}

export function knew({ layer, context_tokens }: Pick<Token, "layer" | "context_tokens">): string {
  if (layer === null) return "no context knew it";
  if (context_tokens === null) return `layer ${layer}`;
  return `layer ${layer}, ${context_tokens} ${plural(context_tokens, "token")} of context`;
}

export const title = (token: Pick<Token, "probability" | "layer" | "context_tokens">): string =>
  `${percent(token.probability)}, ${sureness(token.probability)}; ${knew(token)}`;
