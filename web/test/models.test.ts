import { beforeEach, expect, test, vi } from "vitest";
import { useModel } from "../src/api/client";
import { refresh, stats } from "../src/state/memory";
import { chosen, create, permission } from "../src/state/models";
import { documents } from "../src/api/memo";
import { json, refusal, serve, stats as figures } from "./server";

const page = (search: string) => {
  const assign = vi.fn();
  vi.stubGlobal("location", { search, assign });
  return assign;
};

const several = (...names: string[]) =>
  json({ models: names.map((name) => ({ name, open: false })), can_create: true, permission: "write" });

beforeEach(() => {
  permission.value = null;
  stats.value = null;
  useModel(null);
});

test("requests are about the model of the address", async () => {
  page("?model=a+%26+b");
  const asked = serve({ models: several("a & b", "c"), stats: figures(), documents: json({ documents: [], total: 0 }) });
  await refresh();
  await documents({ search: "", state: "", limit: 5, offset: 0 });
  expect(asked.map(({ path }) => path)).toEqual(["models", "stats?model=a+%26+b", "documents?limit=5&offset=0&model=a+%26+b"]);
});

test("without one it is the first of several, and a server of one is not told", async () => {
  page("");
  let asked = serve({ models: several("a", "b"), stats: figures() });
  await refresh();
  expect([chosen.value, asked.at(-1)!.path]).toEqual(["a", "stats?model=a"]);
  permission.value = null;
  useModel(null);
  asked = serve({ models: several("a"), stats: figures() });
  await refresh();
  expect([chosen.value, asked.at(-1)!.path]).toEqual([null, "stats"]);
});

test("a new model is opened once it is made", async () => {
  const assign = page("");
  serve({ models: ({ method }) => (method === "POST" ? json({ name: "new", open: true }, 201) : several("a")) });
  await create("new");
  expect(assign).toHaveBeenCalledWith("?model=new");
  serve({ models: refusal(409, "there is a model \"new\" already") });
  await expect(create("new")).rejects.toThrow("already");
});
