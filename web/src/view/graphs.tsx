// Graphs: those that there are, to be saved as files or removed, and new ones from files.

import { useSignal } from "@preact/signals";
import type { GraphStats } from "../api/types";
import { count, plural } from "../format";
import { FORMATS, READ } from "../graphs";
import { useAnswer } from "../state/answer";
import { addGraphs, graphs, saveGraph } from "../state/graphs";
import { readOnly } from "../state/key";
import { dialog, openDocument } from "../state/place";
import { Failure } from "./parts";

export function Graphs() {
  const found = graphs.value.value;
  return (
    <>
      <Failure error={graphs.error.value} />
      {found?.total === 0 && <p class="hint">There are no graphs yet. A fact that is stated makes one, called “facts”.</p>}
      <ul class="known" aria-label="Graphs">
        {found?.graphs.map((graph) => (
          <li key={graph.document}>
            <Graph graph={graph} />
          </li>
        ))}
      </ul>
      <Adding />
    </>
  );
}

function Graph({ graph: { document: id, facts } }: { graph: GraphStats }) {
  const format = useSignal(FORMATS[0]![0]);
  const answer = useAnswer<void>();
  return (
    <>
      <span class="heading">
        <span>
          <button class="link" aria-label={`Open ${id}`} onClick={() => openDocument(id)}>
            {id}
          </button>{" "}
          <span class="detail">
            {count(facts)} {plural(facts, "fact")}
          </span>
        </span>
        <button
          class="link danger"
          disabled={readOnly.value}
          aria-label={`Remove ${id}`}
          onClick={() => (dialog.value = { kind: "forget", id })}
        >
          Remove…
        </button>
      </span>
      <span class="actions">
        <button disabled={answer.waiting.value} onClick={() => answer.ask(() => saveGraph(id, format.value))}>
          Save as
        </button>
        <select aria-label={`Format of ${id}`} value={format.value} onChange={(event) => (format.value = event.currentTarget.value)}>
          {FORMATS.map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </span>
      <Failure error={answer.error.value} />
    </>
  );
}

function Adding() {
  const answer = useAnswer<void>();
  const choose = (input: HTMLInputElement) => {
    const files = [...(input.files ?? [])];
    input.value = "";
    if (files.length > 0) void answer.ask(() => addGraphs(files));
  };
  return (
    <div class="stating adding">
      <h3>Add a graph</h3>
      <Failure error={answer.error.value} />
      <div class="actions">
        <label class={readOnly.value ? "button disabled" : "button"}>
          {answer.waiting.value ? "Adding…" : "Choose files…"}
          <input
            class="hidden"
            type="file"
            multiple
            accept={READ}
            disabled={readOnly.value || answer.waiting.value}
            onChange={(event) => choose(event.currentTarget)}
          />
        </label>
        <span class="hint">Turtle, N-Triples, N-Quads, JSON-LD, RDF/XML, or a table of subject, predicate and object.</span>
      </div>
    </div>
  );
}
