// One line about what just happened. What went wrong stays until it is dismissed.

import { effect, signal } from "@preact/signals";
import { isOver, words } from "../api/client";

export interface Notice {
  text: string;
  tone: "done" | "error";
  /** What it is about. */
  error?: unknown;
}

export const notice = signal<Notice | null>(null);

const SECONDS = 6;

export function say(text: string): void {
  const said: Notice = { text, tone: "done" };
  notice.value = said;
  setTimeout(() => notice.value === said && dismiss(), SECONDS * 1000);
}

export function complain(error: unknown): void {
  notice.value = { text: words(error), tone: "error", error };
}

export function dismiss(): void {
  notice.value = null;
}

// What is over need not be dismissed.
effect(() => {
  if (isOver(notice.peek()?.error)) dismiss();
});
