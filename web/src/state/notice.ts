// One line about what just happened. What went wrong stays until it is dismissed.

import { effect, signal } from "@preact/signals";
import { reachable, Refusal, words } from "../api/client";

export interface Notice {
  text: string;
  tone: "done" | "error";
  /** It says that the server does not answer. */
  unreachable?: boolean;
}

export const notice = signal<Notice | null>(null);

const SECONDS = 6;

export function say(text: string): void {
  const said: Notice = { text, tone: "done" };
  notice.value = said;
  setTimeout(() => notice.value === said && dismiss(), SECONDS * 1000);
}

export function complain(error: unknown): void {
  notice.value = { text: words(error), tone: "error", unreachable: error instanceof Refusal && error.status === 0 };
}

export function dismiss(): void {
  notice.value = null;
}

// Once it answers again, that is no longer true.
effect(() => {
  if (reachable.value && notice.peek()?.unreachable) dismiss();
});
