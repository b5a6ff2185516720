// The key of a server that asks for one. It lives as long as the tab.

import { signal } from "@preact/signals";
import { Refusal, useKeyring } from "../api/client";

const STORED = "memo-key";

export interface Question {
  /** A key was given and not accepted. */
  refused: boolean;
  answer(key: string | null): void;
}

export const question = signal<Question | null>(null);

let asked: Promise<void> | null = null;

const key = () => sessionStorage.getItem(STORED);

function ask(refused: string | null): Promise<void> {
  // A newer key may have come while the request was on its way.
  if (key() !== refused) return Promise.resolve();
  asked ??= new Promise<void>((resolve, reject) => {
    question.value = {
      refused: refused !== null,
      answer(given) {
        question.value = null;
        asked = null;
        if (given) {
          sessionStorage.setItem(STORED, given);
          resolve();
        } else {
          reject(new Refusal(401, "This server asks for a key."));
        }
      },
    };
  });
  return asked;
}

useKeyring({ key, ask });
