// The lexicon of the model, if it has one: a switch, the classes of the words on the page, and the words of a class.

import { computed, effect, signal } from "@preact/signals";
import * as memo from "../api/memo";
import type { ClassifiedText, ClassifiedWord, ClassMembers } from "../api/types";
import { Answer } from "./answer";
import { before, busy, spoken } from "./text";
import { identity } from "./switch";

const found = new Answer<{ text: string } & ClassifiedText>();

const shown = computed(() => {
  const text = spoken.value;
  return text && !busy.value && identity.value ? before(text, text.tokens.length) : null;
});

// Asked when all is said: words may be of several tokens.
effect(() => {
  const text = shown.value;
  void identity.value;
  if (text === null) found.clear();
  else void found.ask(async () => ({ text, ...(await memo.classify(text)) }));
});

/** The words with classes of the text that is shown, in order. */
export const words = computed<ClassifiedWord[]>(() => {
  const answer = found.value.value;
  return answer && answer.text === shown.value ? answer.words : [];
});

/** How many words of a class are shown. */
export const FEW = 6;

const known = new Map<string, Promise<ClassMembers>>();
effect(() => {
  void identity.value;
  known.clear();
});

/** The first words of a class; asked once. */
export function members(name: string): Promise<ClassMembers> {
  let answer = known.get(name);
  if (!answer) {
    known.set(name, (answer = memo.members(name, FEW)));
    answer.catch(() => known.delete(name));
  }
  return answer;
}

/** A word that the user points at, or has the focus on, and where it is on the page. */
export interface Pointed {
  word: ClassifiedWord;
  left: number;
  top: number;
}

export const pointed = signal<Pointed | null>(null);
