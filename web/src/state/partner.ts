// The neural model beside the memory, where there is one: who answers, and how much of a token came from whom.

import { computed, signal } from "@preact/signals";
import type { Asking } from "../api/memo";
import type { MixtureShares } from "../api/types";
import { stats } from "./memory";

export const partner = computed(() => stats.value?.partner ?? null);

export const MODES = { memory: "Memory", both: "Both", model: "Model" } as const;

export type Mode = keyof typeof MODES;

export const mode = signal<Mode>("both");

/** What a question says about it: nothing, where there is nobody else to ask. */
export const asking = computed<Asking>(() => (partner.value ? { mode: mode.value } : {}));

/** How much of a token's probability is the memory's, from 0 to 1. */
export function memoryShare({ weight, memory, model }: MixtureShares): number {
  const own = weight * memory;
  const all = own + (1 - weight) * (model ?? 0);
  return all > 0 ? own / all : weight;
}
