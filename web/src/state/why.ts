// Why the memory said a token: candidates, evidence and sources, asked again whenever the memory changes.

import { computed, effect, signal } from "@preact/signals";
import * as memo from "../api/memo";
import type { Explanation } from "../api/types";
import { Answer } from "./answer";
import { refresh, transaction } from "./memory";
import { say } from "./notice";
import { asking } from "./partner";
import { section } from "./place";
import { reading } from "./switch";
import { chosen, context, spoken, stale, words } from "./text";

export const explanation = new Answer<Explanation>();

/** What the chosen token was chosen after, the token, and the word that it is a piece of, if it is no word of its own. */
export const asked = computed(() => {
  const [text, index] = [spoken.value, chosen.value];
  const token = index === null ? null : text?.tokens[index];
  if (!text || !token || index === null) return null;
  const word = words.value.find(({ start, end }) => start <= index && index < end);
  return { ...context(text, index), token, word: word && word.end - word.start > 1 ? word : null };
});

/** The candidate whose evidence is shown, by its token; the chosen token's own unless another was picked. */
export const picked = signal<number | null>(null);

export const candidate = computed(() => {
  const candidates = explanation.value.value?.candidates ?? [];
  const token = picked.value ?? asked.value?.token.token;
  return candidates.find((candidate) => candidate.token === token) ?? candidates[0] ?? null;
});

/** How probable the chosen token is: as it was said or, if the memory says something else now, as it would be. */
export const probability = computed(() => {
  const [about, found] = [asked.value, explanation.value.value];
  if (!about) return null;
  const now = stale.value === null ? null : (found?.candidates.find(({ token }) => token === about.token.token)?.probability ?? null);
  return { then: about.token.probability, now, stale: stale.value !== null };
});

export function choose(index: number): void {
  chosen.value = index;
  picked.value = null;
  section.value = "why";
}

/** As JSON, so that it is the same question while more is said after the token. */
const question = computed(() => asked.value && JSON.stringify(asked.value.tokens ?? asked.value.prompt));

/** How much of what the text says itself was read for what is shown. */
export const recency = computed<memo.Reading>(() => {
  const recent = spoken.value?.reading.recent;
  return recent === undefined ? {} : { recent };
});

effect(() => {
  const [prompt, how] = [question.value, { ...recency.value, ...reading.value, ...asking.value }];
  void transaction.value;
  if (prompt === null) explanation.clear();
  else void explanation.ask(() => memo.explain(JSON.parse(prompt) as string | number[], how));
});

/** The last edit made here, to be undone. */
export interface Edit {
  prompt: string;
  target: string;
  weight: number;
  transaction: number;
}

export const edited = signal<Edit | null>(null);

export async function edit(prompt: string, target: string): Promise<void> {
  const { transaction, weight } = await memo.edit(prompt, target);
  if (transaction === null) return say("It says so already.");
  edited.value = { prompt, target, weight, transaction };
  await refresh();
}

export async function undo(transaction: number): Promise<void> {
  await memo.rollBack(transaction);
  edited.value = null;
  say("Undone. Nothing of the edit is left in the memory.");
  await refresh();
}

/** A word is said with the space before it: what replaces one needs it too. */
export function like(token: string, target: string): string {
  const space = /^\s/.test(token) && /^[\p{L}\p{N}]/u.test(target);
  return space ? ` ${target}` : target;
}
