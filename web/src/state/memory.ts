// The memory itself. Everything that shows a part of it looks again when its last transaction changes.

import { computed, signal } from "@preact/signals";
import { reachable } from "../api/client";
import * as memo from "../api/memo";
import type { Stats } from "../api/types";
import { look, permission } from "./models";
import { complain } from "./notice";

export const stats = signal<Stats | null>(null);

export const transaction = computed(() => stats.value?.transaction ?? null);

export const empty = computed(() => stats.value?.documents === 0);

/** Looks again. A server that does not answer is told by `reachable`. */
export async function refresh(): Promise<void> {
  try {
    if (permission.value === null) await look();
    const found = (stats.value = await memo.stats());
    if (found.digest || found.busy) return;
    const { digest } = await memo.digest();
    // Unless there was another look meanwhile.
    if (stats.value === found) stats.value = { ...found, digest };
  } catch (error) {
    if (reachable.value) complain(error);
  }
}

const SECONDS = 3;

/** Others may change the memory too: looks again when the user comes back, and while a change is being made or nobody answers. */
export function watch(): void {
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  setInterval(() => {
    if (!document.hidden && (stats.value?.busy || !reachable.value)) void refresh();
  }, SECONDS * 1000);
}
