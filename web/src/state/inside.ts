// A look inside the memory while it reads a sentence; asked again whenever the sentence or the memory changes.

import { computed, effect, signal } from "@preact/signals";
import * as memo from "../api/memo";
import type { Breakdown, MemoryFill } from "../api/types";
import { Answer } from "./answer";
import { transaction } from "./memory";
import { dialog } from "./place";
import { reading } from "./switch";

/** The sentence that is read. */
export const sentence = signal("");

/** What the memory says after the sentence, taken apart, and the longest block that foretold each of its tokens. */
export interface Read extends Breakdown {
  foretold: (number | null)[];
}

export const read = new Answer<Read>();

export const fill = new Answer<MemoryFill>();

/** The token whose probability is shown as a sum; the likeliest unless another was picked. */
export const picked = signal<number | null>(null);

export const candidate = computed(() => {
  const candidates = read.value.value?.candidates ?? [];
  return candidates.find(({ token }) => token === picked.value) ?? candidates[0] ?? null;
});

const open = computed(() => dialog.value?.kind === "inside");

/** How the memory is read besides, as where the sentence comes from. */
const how = signal<memo.Reading>({});

/** Opens the view on a sentence, and on a token that may follow it. */
export function look(prompt: string, token: number | null = null, reading: memo.Reading = {}): void {
  sentence.value = prompt;
  how.value = reading;
  picked.value = token;
  read.clear();
  dialog.value = { kind: "inside" };
}

async function ask(prompt: string, how: memo.Reading): Promise<Read> {
  const [breakdown, { tokens }] = await Promise.all([memo.breakdown(prompt, how), memo.tint(prompt, how)]);
  return { ...breakdown, foretold: tokens.map(({ context_tokens }) => context_tokens) };
}

/** A sentence is read when its author pauses. */
const PAUSE = 300;

let pausing: ReturnType<typeof setTimeout> | undefined;

effect(() => {
  const [prompt, asked, shown] = [sentence.value, { ...how.value, ...reading.value }, open.value && transaction.value !== null];
  clearTimeout(pausing);
  if (shown) pausing = setTimeout(() => void read.ask(() => ask(prompt, asked)), read.value.peek() ? PAUSE : 0);
});

effect(() => {
  if (open.value && transaction.value !== null) void fill.ask(memo.fill);
});
