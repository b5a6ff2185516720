// The text in the middle: a prompt, and the tokens that the memory put after it.

import { batch, computed, effect, signal } from "@preact/signals";
import { isOver } from "../api/client";
import * as memo from "../api/memo";
import type { CompletionEnd, Token } from "../api/types";
import { refresh, transaction } from "./memory";
import { asking } from "./partner";
import { reading } from "./switch";
import { wordsIn } from "../words";

/** What was shown to the memory, and token by token what is to be looked at. */
export interface Spoken {
  prompt: string;
  tokens: Token[];
  done: CompletionEnd | null;
  /** The memory's last transaction then: a later one makes this a thing of the past. */
  transaction: number | null;
  /** How the memory was read. */
  reading: memo.Reading & memo.Asking;
  again: () => void;
}

export const prompt = signal("");
export const options = signal<memo.Options>({ max_tokens: 64, temperature: 0, seed: 0 });
export const spoken = signal<Spoken | null>(null);
export const failure = signal<unknown>(null);
/** The token that is being explained. */
export const chosen = signal<number | null>(null);

const running = signal<AbortController | null>(null);
export const busy = computed(() => running.value !== null);
/** Why what is shown would be said otherwise now, if it would. */
export const stale = computed(() => {
  if (!spoken.value || busy.value) return null;
  if (spoken.value.transaction !== transaction.value) return "The memory has changed since.";
  if (spoken.value.reading.generalize !== reading.value.generalize) return "Generalising was switched since.";
  if (spoken.value.reading.mode && spoken.value.reading.mode !== asking.value.mode) return "Who answers was switched since.";
  return null;
});

/** What is shown, word by word. */
export const words = computed(() => wordsIn(spoken.value?.tokens ?? []));

/** Everything that is shown before a token. */
export function before({ prompt, tokens }: Pick<Spoken, "prompt" | "tokens">, index: number): string {
  return (
    prompt +
    tokens
      .slice(0, index)
      .map((token) => token.text)
      .join("")
  );
}

/** What a token was chosen after, which is not what was typed if the prompt was put right, and the token's text as it follows that. */
export function context(spoken: Spoken, index: number): { prompt: string; tokens: number[] | null; text: string } {
  const continued = spoken.done?.continued;
  const text = spoken.tokens[index]?.text ?? "";
  if (!continued) return { prompt: before(spoken, index), tokens: null, text };
  const earlier = spoken.tokens.slice(0, index);
  const texts = earlier.map((token, at) => (at === 0 ? continued.next : token.text));
  return {
    prompt: continued.text + texts.join(""),
    tokens: [...continued.tokens, ...earlier.map(({ token }) => token)],
    text: index === 0 ? continued.next : text,
  };
}

/** Completes the prompt, token by token as they come. */
export const complete = (): Promise<void> =>
  speak(complete, prompt.value, { ...asking.value, ...recency() }, async (add, signal) => {
    const tokens = memo.complete(prompt.value, { ...options.value, ...reading.value, ...asking.value }, signal);
    const gathered = gather(add);
    try {
      for (;;) {
        const next = await tokens.next();
        if (next.done) return next.value;
        gathered.push(next.value);
      }
    } finally {
      gathered.flush();
    }
  });

/** Goes on where the length ended a completion: all that is shown becomes the prompt. */
export function goOn(): void {
  const said = spoken.value;
  if (!said) return;
  prompt.value = context(said, said.tokens.length).prompt;
  void complete();
}

/** A completion that draws expects again what the text itself has said, unless a neural model does. */
const recency = (): memo.Reading =>
  options.value.temperature > 0 && (asking.value.mode ?? "memory") === "memory" ? { recent: 1 } : {};

/** Milliseconds in which tokens are gathered: they may come faster than they can be drawn. */
const GATHERED = 40;

/** Passes the first token on at once, and those after it a few at a time. */
function gather(add: (tokens: Token[]) => void) {
  let waiting: Token[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length > 0) add(waiting);
    waiting = [];
  };
  const push = (token: Token) => {
    waiting.push(token);
    if (timer !== undefined) return;
    flush();
    timer = setTimeout(flush, GATHERED);
  };
  return { push, flush };
}

/** Tints the prompt's own tokens: how well does the memory know this text? */
export const read = (): Promise<void> =>
  speak(read, "", {}, async (add) => {
    add((await memo.tint(prompt.value, reading.value)).tokens);
    return null;
  });

export function stop(): void {
  running.value?.abort();
  running.value = null;
}

type Speaker = (add: (tokens: Token[]) => void, signal: AbortSignal) => Promise<CompletionEnd | null>;

async function speak(again: () => void, prompt: string, own: memo.Reading & memo.Asking, speaker: Speaker): Promise<void> {
  stop();
  const mine = new AbortController();
  const update = (change: (spoken: Spoken) => Spoken) => {
    if (running.value === mine && spoken.value) spoken.value = change(spoken.value);
  };
  batch(() => {
    running.value = mine;
    failure.value = null;
    chosen.value = null;
    const how = { ...reading.value, ...own };
    spoken.value = { prompt, tokens: [], done: null, transaction: transaction.value, reading: how, again };
  });
  try {
    const add = (tokens: Token[]) => update((was) => ({ ...was, tokens: [...was.tokens, ...tokens] }));
    const done = await speaker(add, mine.signal);
    update((was) => ({ ...was, done }));
  } catch (error) {
    if (!mine.signal.aborted) failure.value = error;
  }
  if (running.value === mine) running.value = null;
  void refresh();
}

// A server that answers again, or has its key, makes nothing of what was before.
effect(() => {
  if (isOver(failure.peek())) failure.value = null;
});
