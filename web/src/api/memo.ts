// The calls of the server, by name.

import { Refusal, send, type Request } from "./client";
import { events } from "./events";
import type * as wire from "./types";

async function call<Answer>(path: string, request?: Request): Promise<Answer> {
  return (await send(path, request)).json() as Promise<Answer>;
}

const ACCEPTED = 202;

/** What takes longer than a request may take is answered with a task, whose result is then waited for. */
async function patiently<Answer>(path: string, request?: Request): Promise<Answer> {
  const response = await send(path, request);
  const answer: unknown = await response.json();
  return response.status === ACCEPTED ? follow(answer as wire.Task<Answer>, () => {}) : (answer as Answer);
}

function query(parameters: Record<string, string | number | boolean>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

const document = (id: string) => `documents/${encodeURIComponent(id)}`;

export const models = () => call<wire.ServedModels>("models");
export const createModel = (name: string) => call<wire.ServedModel>("models", { json: { name } });

export const stats = () => call<wire.Stats>("stats");
export const digest = () => call<wire.DigestReport>("digest");

export interface Page {
  search: string;
  state: wire.DocumentState | "";
  limit: number;
  offset: number;
}

export const documents = (page: Page) => call<wire.DocumentList>(`documents?${query({ ...page })}`);
export const read = (id: string, version: number | null) =>
  call<wire.DocumentText>(`${document(id)}${version ? `?version=${version}` : ""}`);
export const historyOf = (id: string) => call<wire.TransactionList>(`${document(id)}/history`);

export const memorize = (text: string, id: string) =>
  call<wire.Task<wire.MemorizeReport>>("documents", { json: { text, ...(id && { id }), wait: false } });
export const upload = (file: File) =>
  call<wire.Task<wire.MemorizeReport>>(`upload?${query({ id: file.name, wait: false })}`, { bytes: file });

export const retire = (id: string) => patiently<wire.ChangeReport>(`${document(id)}/retire`, { json: {} });
export const restore = (id: string) => patiently<wire.ChangeReport>(`${document(id)}/restore`, { json: {} });
export const forget = (id: string) => patiently<wire.Receipt>("forget", { json: { document: id } });
export const prove = (without: string[]) => call<wire.Task<wire.Proof>>("prove", { json: { without, wait: false } });

/** Subject, predicate and object of facts; of a pattern, what is empty is anything. */
export interface FactPattern {
  subject: string;
  predicate: string;
  object: string;
}

export const facts = (pattern: FactPattern, limit: number) => call<wire.Facts>(`facts?${query({ ...pattern, limit })}`);
export const stateFacts = (facts: FactPattern[]) => patiently<wire.ChangeReport>("facts", { json: { facts } });
export const previewForgetFacts = (facts: FactPattern) =>
  call<wire.ForgetPreview>("forget", { json: { facts, dry_run: true } });
export const forgetFacts = (facts: FactPattern) => patiently<wire.Receipt>("forget", { json: { facts } });
export const why = (statement: string) => call<wire.Derivation>(`why?${query({ statement })}`);

export const graphs = () => call<wire.GraphList>(`graphs?${query({ limit: 1000 })}`);
export const addGraph = (id: string, text: string) => patiently<wire.AddedGraph>("graphs", { json: { id, text } });
export const exportGraph = (id: string, format: string) =>
  call<wire.ExportedGraph>(`graphs/${encodeURIComponent(id)}?${query({ format })}`);

export const rules = () => call<wire.RuleList>(`rules?${query({ limit: 1000 })}`);
export const previewRules = (id: string, text: string) =>
  call<wire.RulesPreview>("rules/preview", { json: { text, ...(id && { id }) } });
export const addRules = (id: string, text: string) => patiently<wire.AddedRules>("rules", { json: { id, text } });

/** How the memory is read. */
export interface Reading {
  /** How much the lexicon counts, from 0 to 1. */
  generalize?: number;
  /** How much counts what the text itself says before, from 0 to 1. */
  recent?: number;
}

/** Who answers, where there is a neural model beside the memory. */
export interface Asking {
  mode?: "memory" | "both" | "model";
}

export interface Options extends Reading, Asking {
  max_tokens: number;
  temperature: number;
  seed: number;
}

export async function* complete(
  prompt: string,
  options: Options,
  signal: AbortSignal,
): AsyncGenerator<wire.Token, wire.CompletionEnd | null> {
  const response = await send("complete", { json: { prompt, ...options, stream: true }, signal });
  for await (const event of events(response.body!)) {
    if (event.name === "token") yield JSON.parse(event.data) as wire.Token;
    if (event.name === "done") return JSON.parse(event.data) as wire.CompletionEnd;
    if (event.name === "error") throw Refusal.of((JSON.parse(event.data) as { error: wire.ErrorDetail }).error, 500);
  }
  return null;
}

export const tint = (text: string, reading: Reading) => call<wire.TokenList>("read", { json: { text, ...reading } });
export const explain = (prompt: string | number[], how: Reading & Asking) =>
  call<wire.Explanation>("explain", { json: { prompt, candidates: 5, ...how } });
export const breakdown = (prompt: string, reading: Reading) =>
  call<wire.Breakdown>("breakdown", { json: { prompt, candidates: 5, ...reading } });
export const fill = () => call<wire.MemoryFill>("fill");

export const classify = (text: string) => call<wire.ClassifiedText>("lexicon/text", { json: { text } });
export const members = (name: string, limit: number) =>
  call<wire.ClassMembers>(`lexicon/classes/${encodeURIComponent(name)}?${query({ limit })}`);

export const find = (text: string) => call<wire.TextMatches>("find", { json: { text, ignore_case: true } });

export const edit = (prompt: string, target: string) => patiently<wire.EditReport>("edit", { json: { prompt, target } });
export const transactions = (limit: number, offset: number) =>
  call<wire.TransactionList>(`transactions?${query({ limit, offset })}`);
export const rollBack = (id: number) => patiently<wire.ChangeReport>(`transactions/${id}/rollback`, { json: {} });

export const tasks = () => call<wire.TaskList>("tasks");
export const cancel = (id: string) => call<wire.Task>(`tasks/${id}`, { method: "DELETE" });

/** Follows a task to its end, and gives what it made. */
export async function follow<Result>(task: wire.Task<Result>, progress: (task: wire.Task<Result>) => void): Promise<Result> {
  let last = task;
  progress(task);
  const response = await send(`tasks/${task.id}/events`);
  for await (const event of events(response.body!)) {
    last = JSON.parse(event.data) as wire.Task<Result>;
    progress(last);
  }
  if (last.state === "done" && last.result) return last.result;
  if (last.state === "cancelled") throw new Refusal(0, "Cancelled; nothing of it is left.", "cancelled");
  throw Refusal.of(last.error ?? { message: "The server stopped telling how it goes.", code: null }, 500);
}
