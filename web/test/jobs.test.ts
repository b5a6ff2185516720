import { beforeEach, expect, test } from "vitest";
import { cancel, jobs, memorize, outcome, resume, upload } from "../src/state/jobs";
import { notice } from "../src/state/notice";
import { json, refusal, serve, sse, stats } from "./server";

const task = (state: string, parts = {}) => ({
  id: "t-1",
  kind: "memorize",
  state,
  stage: "memorizing",
  done: 0,
  total: 10,
  unit: "tokens",
  result: null,
  error: null,
  ...parts,
});
const result = { documents: 1, tokens: 30, added: ["note"], updated: [], unchanged: [] };
const done = sse(["progress", task("running", { done: 5 })], ["progress", task("done", { result })]);
const failed = sse(["progress", task("failed", { error: { message: "There is not enough memory.", code: null } })]);

beforeEach(() => {
  jobs.value = [];
});

test("a text is a task that is followed to its end", async () => {
  const seen: unknown[] = [];
  const stop = jobs.subscribe(([job]) => job?.task && seen.push(job.task.done));
  const asked = serve({ documents: json(task("queued"), 202), "tasks/t-1/events": done, stats: stats() });
  expect(await memorize("Some text.", "note")).toBe(true);
  stop();
  expect(asked[0]).toMatchObject({ method: "POST", body: { text: "Some text.", id: "note", wait: false } });
  expect(seen).toContain(5);
  expect(jobs.value).toEqual([]);
  expect(notice.value?.text).toBe("Memorized “note”: 30 tokens.");
});

test("a text that was refused waits, and can be tried again", async () => {
  for (const refused of [
    { documents: refusal(507, "There is not enough memory.") },
    { documents: json(task("queued"), 202), "tasks/t-1/events": failed },
  ]) {
    serve({ ...refused, stats: stats() });
    expect(await memorize("Long text.", "note")).toBe(false);
    expect(jobs.value[0]?.error).toMatchObject({ message: "There is not enough memory." });
    serve({ documents: json(task("queued"), 202), "tasks/t-1/events": done, stats: stats() });
    jobs.value[0]!.again!();
    await expect.poll(() => jobs.value).toEqual([]);
  }
});

test("what is cancelled leaves nothing behind", async () => {
  const asked = serve({
    "tasks/t-1": json(task("cancelled")),
    "tasks/t-1/events": sse(["progress", task("cancelled")]),
    documents: json(task("queued"), 202),
    stats: stats(),
  });
  await memorize("Text.", "");
  expect(jobs.value).toEqual([]);
  await cancel({ key: 1, name: "", task: task("running") as never, error: null, again: null });
  expect(asked.at(-1)).toMatchObject({ path: "tasks/t-1", method: "DELETE" });
});

test("files go one after the other, under their names", async () => {
  const asked = serve({ upload: json(task("queued"), 202), "tasks/t-1/events": done, stats: stats() });
  await upload([new File(["a"], "a b.txt"), new File(["b"], "b.txt")]);
  expect(asked.map(({ path }) => path)).toEqual(
    ["upload?id=a+b.txt&wait=false", "upload?id=b.txt&wait=false"].flatMap((path) => [path, "tasks/t-1/events", "stats"]),
  );
});

test("tasks that run already are taken up", async () => {
  serve({
    tasks: json({ tasks: [task("running"), task("done", { id: "t-0" })] }),
    "tasks/t-1/events": () => new Promise(() => {}),
    stats: stats(),
  });
  await resume();
  expect(jobs.value).toHaveLength(1);
});

test("memorizing what is known says so", () => {
  expect(outcome("note", { tokens: 0, unchanged: ["note"] })).toBe("“note” was known already.");
  expect(outcome("note", { tokens: 1, unchanged: [] })).toBe("Memorized “note”: 1 token.");
});
