// The neural model beside the memory: the switch, the legend of two hues, and both lists of candidates.

import { useId } from "preact/hooks";
import type { Candidate, MixtureShares, PartnerCandidate, PartnerExplanation } from "../api/types";
import { percent } from "../format";
import { memoryShare, mode, MODES, partner, type Mode } from "../state/partner";
import { picked } from "../state/why";
import { Bar, Name } from "./parts";

/** Who answers. */
export function Modes() {
  const name = useId();
  if (!partner.value) return null;
  return (
    <fieldset class="modes" title={`Who answers: the memory, ${partner.value.model} beside it, or both together`}>
      <legend class="hidden">Who answers</legend>
      {(Object.keys(MODES) as Mode[]).map((each) => (
        <label key={each}>
          <input type="radio" name={name} checked={mode.value === each} onChange={() => (mode.value = each)} />
          {MODES[each]}
        </label>
      ))}
    </fieldset>
  );
}

export function MixtureLegend() {
  return (
    <span>
      from the model <i class="scale mixed" /> from the memory
    </span>
  );
}

/** Where a token came from, in numbers. */
export function Shares({ shares }: { shares: MixtureShares }) {
  const share = memoryShare(shares);
  const { weight, memory, model } = shares;
  if (model === null) return <p class="detail">The model did not answer: this is the memory's alone.</p>;
  return (
    <p class="detail">
      {percent(share)} of it came from the memory, {percent(1 - share)} from the model. The memory gives it {percent(memory)} and
      counts {percent(weight)} here; the model gives it {percent(model)}.
    </p>
  );
}

interface BothProps {
  memory: Candidate[];
  shown: Candidate;
  partner: PartnerExplanation;
}

/** What the memory and the model each say comes next, side by side. */
export function Both({ memory, shown, partner }: BothProps) {
  return (
    <div class="both">
      <div>
        <h3>
          Memory <small>counts {percent(partner.weight)}</small>
        </h3>
        <ul class="candidates" aria-label="Candidates">
          {memory.map((each) => (
            <li key={each.token}>
              <button class="candidate" aria-pressed={each === shown} onClick={() => (picked.value = each.token)}>
                <Line text={each.text} probability={each.probability} />
              </button>
            </li>
          ))}
        </ul>
      </div>
      <div>
        <h3>
          Model <small>counts {percent(1 - partner.weight)}</small>
        </h3>
        <ul class="candidates" aria-label="Candidates of the model">
          {partner.model.map((each: PartnerCandidate) => (
            <li key={each.token} class="candidate">
              <Line text={each.text} probability={each.shares.model ?? 0} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Line({ text, probability }: { text: string; probability: number }) {
  return (
    <>
      <Name text={text} />
      <span class="number">{percent(probability)}</span>
      <Bar share={probability} />
    </>
  );
}
