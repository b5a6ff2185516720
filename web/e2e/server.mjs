// The server under test: one of its own on a new model, or the one at MEMO_URL.

import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export async function serve(folder) {
  const { MEMO_BIN, MEMO_URL } = process.env;
  if (MEMO_URL) return { url: MEMO_URL, stop: async () => {} };
  if (!MEMO_BIN) throw new Error("MEMO_BIN names no binary");

  const model = join(folder, "walk.memo");
  execFileSync(MEMO_BIN, ["init", model]);
  return start(model);
}

/** Serves a model, or a folder of them. */
export function start(path, ...options) {
  const { MEMO_BIN } = process.env;
  return listening(spawn(MEMO_BIN, ["serve", path, "--addr", "127.0.0.1:0", ...options], { stdio: ["ignore", "pipe", "inherit"] }));
}

/** A server, once it has printed where it listens. */
export async function listening(server) {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const stop = async () => {
    server.kill();
    await ended;
  };
  process.once("exit", () => server.kill("SIGKILL"));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

  const ready = (async () => {
    for await (const line of createInterface(server.stdout)) {
      const [, url] = /^(?:listening on )?(http:\S+)/.exec(line) ?? [];
      if (url) return `${url}/`;
    }
    throw new Error("the server ended before it listened");
  })();
  const late = new Promise((_, reject) => setTimeout(reject, 30_000, new Error("the server does not listen")).unref());
  try {
    return { url: await Promise.race([ready, late]), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
