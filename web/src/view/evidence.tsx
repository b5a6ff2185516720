// Evidence: how often the token followed, as each context of the memory counts it, against the noise of counting.

import type { SlotEvidence } from "../api/types";
import { count, sees, tenths } from "../format";

export function Evidence({ evidence }: { evidence: SlotEvidence[] }) {
  if (evidence.length === 0) return null;
  return (
    <>
      <h3>Evidence</h3>
      <table class="evidence">
        <thead>
          <tr>
            <th scope="col">Layer</th>
            <th scope="col">Head</th>
            <th scope="col">Tokens</th>
            <th scope="col" colSpan={2}>
              Count ± noise
            </th>
          </tr>
        </thead>
        <tbody>
          {evidence.map((row) => (
            <Row key={`${row.layer} ${row.head}`} row={row} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Row({ row: { layer, head, context_tokens, count: seen, noise, total } }: { row: SlotEvidence }) {
  const whole = Math.max(total, seen + noise, 1);
  const share = (n: number) => `${(Math.max(0, n) / whole) * 100}%`;
  return (
    <tr>
      <td>{layer}</td>
      <td>{head}</td>
      <td>{sees(context_tokens, head)}</td>
      <td>
        <span class="against" aria-hidden="true">
          <span class="count" style={{ width: share(seen) }} />
          <span class="noise" style={{ width: share(noise) }} />
        </span>
      </td>
      <td class="number">
        {tenths(seen)} ± {noise.toFixed(2)} of {count(total)}
      </td>
    </tr>
  );
}
