// Graphs: files of facts, listed, added and saved.

import { computed, effect } from "@preact/signals";
import * as memo from "../api/memo";
import type { GraphList } from "../api/types";
import { Refusal } from "../api/client";
import { count, plural } from "../format";
import { savedAs } from "../graphs";
import { readable } from "../readable";
import { Answer } from "./answer";
import { refresh, transaction } from "./memory";
import { say } from "./notice";
import { dialog } from "./place";

export const graphs = new Answer<GraphList>();

const open = computed(() => dialog.value?.kind === "knowledge" && dialog.value.tab === "graphs");

effect(() => {
  if (open.value && transaction.value !== null) void graphs.ask(memo.graphs);
});

/** Adds files of facts, one after the other. */
export async function addGraphs(files: Iterable<File>): Promise<void> {
  for (const file of [...files]) {
    const why = await readable(file);
    if (why) throw new Refusal(0, why);
    const { document, transaction, facts } = await memo.addGraph(file.name, await file.text());
    say(
      transaction === null
        ? `“${document}” was known already.`
        : `Added “${document}”: ${count(facts)} ${plural(facts, "fact")}.`,
    );
    await refresh();
  }
}

/** Saves a graph as a file. */
export async function saveGraph(id: string, format: string): Promise<void> {
  const { text } = await memo.exportGraph(id, format);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = savedAs(id, format);
  link.click();
  URL.revokeObjectURL(link.href);
}
