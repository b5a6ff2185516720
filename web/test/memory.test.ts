import { expect, test } from "vitest";
import * as memo from "../src/api/memo";
import { refresh, stats as known } from "../src/state/memory";
import { json, serve, sse, stats } from "./server";

test("a digest that nobody has taken yet is taken", async () => {
  serve({ stats: stats({ digest: null }), digest: json({ digest: "d2", transaction: 1 }) });
  await refresh();
  expect(known.value?.digest).toBe("d2");
});

test("while a change is being made, nothing is asked that would wait for it", async () => {
  const asked = serve({ stats: stats({ digest: null, busy: true }) });
  await refresh();
  expect(asked.map(({ path }) => path)).toEqual(["stats"]);
});

test("a change that takes long is waited for as a task", async () => {
  const task = { id: "t-3", state: "running", result: null };
  serve({ forget: json(task, 202), "tasks/t-3/events": sse(["progress", { ...task, state: "done", result: { tokens: 30 } }]) });
  expect(await memo.forget("note")).toEqual({ tokens: 30 });
});
