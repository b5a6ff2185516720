// Texts on their way into the memory: each is a task of the server, followed to its end.

import { signal } from "@preact/signals";
import { Refusal } from "../api/client";
import * as memo from "../api/memo";
import type { MemorizeReport, Task } from "../api/types";
import { readable } from "../readable";
import { refresh, stats } from "./memory";
import { say } from "./notice";
import { count, plural } from "../format";

export interface Job {
  key: number;
  name: string;
  task: Task | null;
  error: unknown;
  /** Starts it again; null for a task that was found running. */
  again: (() => unknown) | null;
}

export const jobs = signal<Job[]>([]);

let keys = 0;

const update = (key: number, parts: Partial<Job>) => {
  jobs.value = jobs.value.map((job) => (job.key === key ? { ...job, ...parts } : job));
};

export const drop = (key: number) => {
  jobs.value = jobs.value.filter((job) => job.key !== key);
};

const add = (name: string): number => {
  const key = ++keys;
  jobs.value = [...jobs.value, { key, name, task: null, error: null, again: null }];
  return key;
};

/** Starts a task and shows how far it is. Gives what came of it, or null. */
async function work<Result>(key: number, start: () => Promise<Task<Result>>): Promise<Result | null> {
  update(key, { error: null, task: null });
  try {
    return await memo.follow(await start(), (task) => update(key, { task }));
  } catch (error) {
    if (error instanceof Refusal && error.code === "cancelled") drop(key);
    else update(key, { error });
    return null;
  } finally {
    await refresh();
  }
}

/** What memorizing came to, in a sentence. */
export function outcome(name: string, { tokens, unchanged }: Pick<MemorizeReport, "tokens" | "unchanged">): string {
  if (tokens === 0 && unchanged.length > 0) return `“${name}” was known already.`;
  return `Memorized “${name}”: ${count(tokens)} ${plural(tokens, "token")}.`;
}

/** True if it is in the memory now. */
async function memorizing(name: string, start: () => Promise<Task<MemorizeReport>>): Promise<boolean> {
  const key = add(name);
  const run = async () => {
    const result = await work(key, start);
    if (!result) return false;
    drop(key);
    say(outcome(result.added[0] ?? result.updated[0] ?? name, result));
    return true;
  };
  update(key, { again: run });
  return run();
}

export const memorize = (text: string, id: string) => memorizing(id || "the text", () => memo.memorize(text, id));

/** One after the other: the memory takes one change at a time anyway. */
export async function upload(files: Iterable<File>): Promise<void> {
  for (const file of [...files]) {
    await memorizing(file.name, async () => {
      // A memory of bytes takes any.
      const why = stats.value?.tokenizer === "bytes" ? null : await readable(file);
      if (why) throw new Refusal(0, why);
      return memo.upload(file);
    });
  }
}

export async function cancel(job: Job): Promise<void> {
  if (job.task) await memo.cancel(job.task.id).catch((error) => update(job.key, { error }));
}

/** Takes up tasks that were running when the page was opened. */
export async function resume(): Promise<void> {
  const { tasks } = await memo.tasks().catch(() => ({ tasks: [] }));
  for (const task of tasks.filter(({ state }) => state === "queued" || state === "running")) {
    const key = add(`a task begun earlier (${task.kind})`);
    void work(key, async () => task).then((result) => result && drop(key));
  }
}
