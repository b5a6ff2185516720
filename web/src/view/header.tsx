// The memory itself: how full, how well it should recall, and its digest.

import { bytes, count, percent, plural } from "../format";
import { stats } from "../state/memory";
import { dialog } from "../state/place";
import { theme, toggle } from "../state/theme";
import { Bar, Digest, Icon } from "./parts";
import type { Stats } from "../api/types";
import icon from "../icon.svg";

export function Header() {
  const memory = stats.value;
  const dark = theme.value === "dark";
  return (
    <header class="memory">
      <h1>
        <img src={icon} alt="" />
        MeMo
        {memory && <small>{memory.model}</small>}
      </h1>
      {memory && <Facts memory={memory} />}
      <div class="tools">
        <button onClick={() => (dialog.value = { kind: "prove", id: null })} disabled={!memory?.documents}>
          Prove it
        </button>
        <button class="quiet icon-only" aria-label="History" title="History" onClick={() => (dialog.value = { kind: "history" })}>
          <Icon name="clock" />
        </button>
        <button
          class="quiet icon-only"
          aria-label={dark ? "Light colours" : "Dark colours"}
          title={dark ? "Light colours" : "Dark colours"}
          onClick={toggle}
        >
          <Icon name={dark ? "sun" : "moon"} />
        </button>
      </div>
    </header>
  );
}

/** From here on recall begins to suffer. */
const CROWDED = 0.9;

function Facts({ memory }: { memory: Stats }) {
  const { load, predicted_recall, tokens, digest } = memory;
  const documents = memory.documents ?? 0;
  return (
    <dl class="facts" aria-label="The memory">
      <div
        class="load"
        title={`${bytes(memory.bytes)}: ${bytes(memory.cell_bytes)} of cells, ${bytes(memory.table_bytes)} of tables`}
      >
        <dt>Load</dt>
        <dd>
          <Bar share={load} tone={load > 1 ? "bad" : load > CROWDED ? "warn" : "good"} />
          {percent(load)}
        </dd>
      </div>
      <div title="How much of its texts it should recall at this load">
        <dt>Predicted recall</dt>
        <dd>{percent(predicted_recall)}</dd>
      </div>
      <div class="size">
        <dt>Knows</dt>
        <dd>
          {count(documents)} {plural(documents, "document")}, {count(tokens)} {plural(tokens, "token")}
        </dd>
      </div>
      <div title="Two memories with the same digest are the same, bit for bit">
        <dt>Digest</dt>
        <dd>{digest ? <Digest value={digest} /> : "…"}</dd>
      </div>
    </dl>
  );
}
