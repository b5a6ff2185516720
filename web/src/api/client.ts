// One way to the server: adds the key, asks for one when it is missing, and turns every failure into a `Refusal`.

import { signal } from "@preact/signals";
import { bytes } from "../format";
import type { ErrorDetail } from "./types";

type Failure = Pick<ErrorDetail, "message" | "code">;

/** False after a request that got no answer at all. */
export const reachable = signal(true);

/** False after a request that was refused for want of a key. */
export const admitted = signal(true);

export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: Failure["code"] = null,
  ) {
    super(message);
  }

  static of(failure: Failure | null, status: number): Refusal {
    return new Refusal(status, failure?.message ?? `The server answered ${status} and no more.`, failure?.code ?? null);
  }
}

/** Whether an error is none any more: the server answers again, or has been given its key. */
export function isOver(error: unknown): boolean {
  const [answers, admits] = [reachable.value, admitted.value];
  return error instanceof Refusal && ((error.status === 0 && answers) || (error.status === 401 && admits));
}

/** Any error, in words for the page. Browsers say “network error” and the like when an answer breaks off. */
export function words(error: unknown): string {
  if (error instanceof TypeError) return "The connection to the server broke off. Try again.";
  const said = error instanceof Error ? error.message : String(error);
  return said.replace(/\b(\d{4,}) bytes\b/g, (_, n) => bytes(Number(n)).replace(".0 ", " "));
}

interface Keyring {
  key(): string | null;
  /** Asks for another key than the one that was refused; rejects when the user gives none. */
  ask(refused: string | null): Promise<void>;
  /** Is told what the server refused. */
  refuse?(code: Failure["code"]): void;
}

let keyring: Keyring = { key: () => null, ask: () => Promise.reject(new Refusal(401, "This server asks for a key.")) };

export function useKeyring(other: Keyring): void {
  keyring = other;
}

let model: string | null = null;

/** Has all requests be about a model, where the server has several. */
export function useModel(name: string | null): void {
  model = name;
}

const address = (path: string): string =>
  model === null ? `api/${path}` : `api/${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ model })}`;

export interface Request {
  method?: "GET" | "POST" | "DELETE";
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  bytes?: Blob;
  signal?: AbortSignal;
}

export async function send(path: string, request: Request = {}): Promise<Response> {
  const key = keyring.key();
  const response = await reach(path, request, key);
  admitted.value = response.status !== 401;
  if (response.status === 401) {
    await keyring.ask(key);
    return send(path, request);
  }
  if (!response.ok) {
    const body = (await response.json().catch(() => null)) as { error?: Failure } | null;
    keyring.refuse?.(body?.error?.code ?? null);
    throw Refusal.of(body?.error ?? null, response.status);
  }
  return response;
}

async function reach(path: string, request: Request, key: string | null): Promise<Response> {
  const headers = new Headers();
  if (key) headers.set("Authorization", `Bearer ${key}`);
  const json = request.json === undefined ? null : JSON.stringify(request.json);
  if (json) headers.set("Content-Type", "application/json");
  if (request.bytes) headers.set("Content-Type", "application/octet-stream");
  try {
    const response = await fetch(address(path), {
      method: request.method ?? (json || request.bytes ? "POST" : "GET"),
      headers,
      body: json ?? request.bytes ?? null,
      signal: request.signal ?? null,
    });
    reachable.value = true;
    return response;
  } catch (error) {
    if (request.signal?.aborted) throw error;
    reachable.value = false;
    throw new Refusal(0, "The server does not answer.");
  }
}
