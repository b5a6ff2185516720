// Whether the lexicon counts: for completions, tints and reasons alike. A model without a lexicon has no such switch.

import { computed, signal } from "@preact/signals";
import type { Reading } from "../api/memo";
import { stats } from "./memory";

export const lexicon = computed(() => stats.value?.lexicon ?? null);

/** Which lexicon it is: the same after every look at the memory, unless it was changed. */
export const identity = computed(() => lexicon.value?.digest ?? null);

export const generalise = signal(true);

const off = computed(() => identity.value !== null && !generalise.value);

/** What a question says about it: nothing, unless it is switched off. */
export const reading = computed<Reading>(() => (off.value ? { generalize: 0 } : {}));
