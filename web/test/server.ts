// A stand-in for fetch: answers by path, and remembers what was asked.

import { vi } from "vitest";

export interface Asked {
  path: string;
  method: string;
  body: unknown;
  authorization: string | null;
}

type Answer = Response | ((asked: Asked) => Response | Promise<Response>);

export const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });

export const sse = (...events: [string, unknown][]) =>
  new Response(events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(""));

export const refusal = (status: number, message: string, code: string | null = null) =>
  json({ error: { message, code } }, status);

/** Paths without `api/`; each answers as often as it is asked. */
export function serve(answers: Record<string, Answer>): Asked[] {
  const asked: Asked[] = [];
  if (!("location" in globalThis)) vi.stubGlobal("location", { search: "" });
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const path = url.replace(/^api\//, "");
    // A server of one model, which few tests are about.
    if (path === "models" && !answers[path]) return json({ models: [], can_create: false, permission: "write" });
    const body = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    const question = { path, method: init.method ?? "GET", body, authorization: new Headers(init.headers).get("Authorization") };
    asked.push(question);
    const answer = answers[path] ?? answers[path.split("?")[0]!];
    if (!answer) return refusal(404, `nothing at ${path}`);
    return answer instanceof Response ? answer.clone() : answer(question);
  });
  return asked;
}

export const stats = (parts = {}) =>
  json({ transaction: 1, documents: 1, digest: "d1", busy: false, ...parts });
