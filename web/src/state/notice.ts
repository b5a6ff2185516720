// One line about what just happened. What went wrong stays until it is dismissed.

import { signal } from "@preact/signals";
import { words } from "../api/client";

export interface Notice {
  text: string;
  tone: "done" | "error";
}

export const notice = signal<Notice | null>(null);

const SECONDS = 6;

export function say(text: string): void {
  const said: Notice = { text, tone: "done" };
  notice.value = said;
  setTimeout(() => notice.value === said && dismiss(), SECONDS * 1000);
}

export function complain(error: unknown): void {
  notice.value = { text: words(error), tone: "error" };
}

export function dismiss(): void {
  notice.value = null;
}
