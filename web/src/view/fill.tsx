// How full each layer's matrix is, and how noisy.

import type { MemoryFill } from "../api/types";
import { count } from "../format";
import { layer, oneIn, used } from "../inside";
import { Bar } from "./parts";

export function Fill({ fill: { slots, rows } }: { fill: MemoryFill }) {
  const most = Math.max(1, ...slots.map(({ cells }) => cells ?? 0));
  return (
    <>
      <p class="hint">
        A layer is a matrix: a row for each block, a column for each token that may follow, and in the cells how often it did. Cells are
        exact counts, and only those that are not zero are kept. Blocks find their rows by a hash, so all noise is false matches: a block that was
        never seen finds the row of one that was.
      </p>
      <table class="fill" role="table" aria-label="How full and how noisy each layer is">
        <thead role="rowgroup">
          <tr role="row">
            {["Layer", "Rows in use", "Cells", "False match"].map((heading) => (
              <th role="columnheader" scope="col" key={heading}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {slots.map((slot) => (
            <tr role="row" key={`${slot.unit} ${slot.length}`}>
              <th role="rowheader" scope="row">
                {layer({ ...slot, from_start: false })}
              </th>
              <td role="cell" data-heading="Rows in use">
                {used(slot, rows)}
              </td>
              <td role="cell" data-heading="Cells">
                {slot.cells === null ? "–" : count(slot.cells)}
                <Bar share={(slot.cells ?? 0) / most} />
              </td>
              <td role="cell" data-heading="False match">
                {oneIn(slot.false_match)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
