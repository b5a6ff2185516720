// Something asked of the server: what came, or why it did not. Only the answer to the last question counts.

import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

export class Answer<T> {
  readonly value = signal<T | null>(null);
  readonly error = signal<unknown>(null);
  readonly waiting = signal(false);
  private turn = 0;

  /** Gives the answer too, or null if there is none. */
  async ask(question: () => Promise<T>): Promise<T | null> {
    const turn = ++this.turn;
    const last = () => turn === this.turn;
    this.waiting.value = true;
    this.error.value = null;
    try {
      const value = await question();
      if (last()) this.value.value = value;
      return value;
    } catch (error) {
      if (last()) this.error.value = error;
      return null;
    } finally {
      if (last()) this.waiting.value = false;
    }
  }

  clear(): void {
    this.turn++;
    this.value.value = null;
    this.error.value = null;
    this.waiting.value = false;
  }
}

/** An answer that lives as long as the component. */
export function useAnswer<T>(): Answer<T> {
  return useMemo(() => new Answer<T>(), []);
}
