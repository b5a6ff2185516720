// Evidence: after which contexts the token was seen, and how often it followed.

import type { SlotEvidence } from "../api/types";
import { after, followed, joined } from "../evidence";
import { Bar } from "./parts";

export function Evidence({ evidence }: { evidence: SlotEvidence[] }) {
  if (evidence.length === 0) return null;
  return (
    <>
      <h3>Evidence</h3>
      <ul class="evidence" aria-label="Evidence">
        {joined(evidence).map((seen) => (
          <li key={`${seen.unit} ${seen.shortest} ${seen.from_start}`}>
            <span>{after(seen)}</span>
            <Bar share={seen.count / seen.total} />
            <span class="detail">{followed(seen)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
