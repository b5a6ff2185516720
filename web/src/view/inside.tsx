// Inside the memory: layers at work on a sentence, what each says, and how that adds up to what is said.

import { useComputed } from "@preact/signals";
import { percent, share, tail, visible } from "../format";
import { columns, layer, others, rows, says, type Column, type Row } from "../inside";
import { candidate, fill, picked, read, sentence, type Read } from "../state/inside";
import { close } from "../state/place";
import type { CandidateShares } from "../api/types";
import { Fill } from "./fill";
import { Bar, Dialog, Failure } from "./parts";

/** Characters that the blocks of a layer may take, on a wide screen and on a narrow one. */
const ROOM = { wide: 58, narrow: 34 };

export function Inside() {
  const found = read.value.value;
  return (
    <Dialog title="Inside the memory" close={close} kind="inside">
      <p class="hint">
        The memory has layers, one for each length of block. Each layer looks up the last tokens of the sentence: if it has seen that
        block, it says what followed, and how often. What all layers say is added up.
      </p>
      <label>
        Sentence
        <input value={sentence.value} onInput={(event) => (sentence.value = event.currentTarget.value)} />
      </label>
      <Failure error={read.error.value} />
      {found && candidate.value && <Reading read={found} shown={candidate.value} />}
      <h3>How full and how noisy each layer is</h3>
      <Failure error={fill.error.value} />
      {fill.value.value && <Fill fill={fill.value.value} />}
    </Dialog>
  );
}

function Reading({ read: found, shown }: { read: Read; shown: CandidateShares }) {
  const room = useComputed(() => (matchMedia("(max-width: 900px)").matches ? ROOM.narrow : ROOM.wide));
  const drawn = columns(
    found.tokens.map(({ text }) => text),
    found.foretold,
    room.value,
  );
  const layers = rows(found, shown);
  const rest = others(found, shown);
  return (
    <div class={read.waiting.value ? "waiting reading" : "reading"}>
      <h3 id="next">What comes next</h3>
      <ul class="candidates" aria-labelledby="next">
        {found.candidates.map(({ token, text, probability }) => (
          <li key={token}>
            <button class="candidate" aria-pressed={token === shown.token} onClick={() => (picked.value = token)}>
              <span class="name">{name(text)}</span>
              <Bar share={probability} />
              <span class="number">{percent(probability)}</span>
            </button>
          </li>
        ))}
      </ul>
      <h3 id="layers">The layers, and what each adds to “{name(shown.text)}”</h3>
      <Sum rows={layers} rest={rest} shown={shown} />
      <table class="layers" role="table" aria-labelledby="layers" style={{ "--columns": drawn.map(({ room }) => `${room}ch`).join(" ") }}>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">
              Layer
            </th>
            <th role="columnheader" scope="col">
              Its block in “{tail(sentence.value, 30)}”
            </th>
            <th role="columnheader" scope="col">
              What it says
            </th>
            <th role="columnheader" scope="col" class="number">
              Adds
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {layers.map((row) => (
            <Layer key={row.key} row={row} columns={drawn} />
          ))}
          {rest.map(({ name, what, adds }) => (
            <tr role="row" key={name} class="other">
              <th role="rowheader" scope="row">
                {name}
              </th>
              <td role="cell" class="says" colSpan={2} aria-colspan={2}>
                {what}
              </td>
              <td role="cell" class="number">
                {share(adds)}
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot role="rowgroup">
          <tr role="row">
            <th role="rowheader" scope="row">
              The sum
            </th>
            <td role="cell" colSpan={2} aria-colspan={2}>
              how probable “{name(shown.text)}” is
            </td>
            <td role="cell" class="number">
              {percent(shown.probability)}
            </td>
          </tr>
        </tfoot>
      </table>
      <p class="legend-of-layers detail" aria-hidden="true">
        <span class="block newest">framed</span> the block that the layer looks up now
        <span class="block foretold">shaded</span> tokens that the layer had foretold
      </p>
    </div>
  );
}

const name = (text: string): string => (text === "" ? "the end of a text" : visible(text));

/** A layer: the block that it looks up, framed, and the tokens that its earlier blocks foretold, shaded. */
function Layer({ row: { context, adds }, columns }: { row: Row; columns: Column[] }) {
  const { unit, length, span, total } = context;
  const first = columns.length - span;
  const end = unit === "skip" ? columns.length - 1 : columns.length;
  const block = columns
    .slice(Math.max(0, first), end)
    .map(({ text }) => text.replaceAll("·", " "))
    .join("");
  return (
    <tr role="row" class={total === 0 ? "missing" : unit}>
      <th role="rowheader" scope="row">
        {layer(context)}
      </th>
      <td role="cell" class="blocks">
        <span class="hidden">{span === 0 ? "nothing" : `“${first < 0 ? "…" : ""}${block.trim()}”`}</span>
        <span class="drawn" aria-hidden="true">
          {columns.map(({ text, foretold }, at) => {
            const newest = at >= first && at < end;
            const kind = [
              "block",
              newest && "newest",
              newest && at === Math.max(0, first) && (first < 0 ? "open" : "first"),
              newest && at === end - 1 && "last",
              unit === "tokens" && foretold !== null && foretold >= length && "foretold",
            ];
            return (
              <span key={at} class={kind.filter(Boolean).join(" ")}>
                {text}
              </span>
            );
          })}
        </span>
      </td>
      <td role="cell" class="says">
        {says(context)}
      </td>
      <td role="cell" class="number">
        {adds > 0 ? share(adds) : "–"}
      </td>
    </tr>
  );
}

/** The terms of the sum, side by side. The table says the same in numbers. */
function Sum({ rows, rest, shown }: { rows: Row[]; rest: { name: string; adds: number }[]; shown: CandidateShares }) {
  const terms = [...rows.map(({ context, adds }) => ({ name: layer(context), adds })), ...rest];
  return (
    <div class="sum" aria-hidden="true">
      {terms
        .filter(({ adds }) => adds > 0.001)
        .map(({ name, adds }) => (
          <span key={name} title={`${name}: ${percent(adds)}`} style={{ flexGrow: adds }}>
            {adds > 0.08 && name}
          </span>
        ))}
      <span class="left" style={{ flexGrow: 1 - shown.probability }} />
    </div>
  );
}
