// The key of a server that asks for one. It lives as long as the tab.

import { computed, signal } from "@preact/signals";
import { Refusal, useKeyring } from "../api/client";
import { permission } from "./models";

const STORED = "memo-key";

export interface Question {
  /** A key was given and not accepted. */
  refused: boolean;
  answer(key: string | null): void;
}

export const question = signal<Question | null>(null);

let asked: Promise<void> | null = null;

/** The user closed the question: it is not asked again until the user wants it. */
export const declined = signal(false);

/** Whether the key, or the server without one, allows no changes. */
export const readOnly = computed(() => permission.value === "read");

const REFUSED = "This server asks for a key.";

const key = () => sessionStorage.getItem(STORED);

/** Whether a key is in use, which another can take the place of. */
export const given = signal(key() !== null);

function ask(refused: string | null): Promise<void> {
  // A newer key may have come while the request was on its way.
  if (key() !== refused) return Promise.resolve();
  if (declined.value) return Promise.reject(new Refusal(401, REFUSED));
  return open(refused !== null);
}

/** Asks for a key, or for another one. */
export function change(): Promise<void> {
  declined.value = false;
  return open(false);
}

function open(refused: boolean): Promise<void> {
  asked ??= new Promise<void>((resolve, reject) => {
    question.value = {
      refused,
      answer(entered) {
        question.value = null;
        asked = null;
        if (entered) {
          sessionStorage.setItem(STORED, entered);
          [given.value, permission.value, declined.value] = [true, null, false];
          resolve();
        } else {
          declined.value = true;
          reject(new Refusal(401, REFUSED));
        }
      },
    };
  });
  return asked;
}

useKeyring({
  key,
  ask,
  refuse: (code) => {
    if (code === "read_only_key") permission.value = "read";
  },
});
