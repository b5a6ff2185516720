// The reason on the right: why the memory said a token.

import type { Candidate } from "../api/types";
import { percent, tail, visible } from "../format";
import { asked, candidate, explanation, picked } from "../state/why";
import { knew, sureness } from "../tint";
import { Edited, EditForm } from "./edit";
import { Evidence } from "./evidence";
import { Bar, Failure } from "./parts";
import { Sources } from "./sources";

export function Why() {
  const about = asked.value;
  return (
    <section class="why" aria-labelledby="why">
      <h2 id="why">Why</h2>
      <Edited />
      {!about && (
        <p class="hint">
          Choose a token in the text, and this shows what made the memory say it: after which words it was seen, how
          often, and where that stands.
        </p>
      )}
      {about && (
        <>
          <p class="said">
            <strong>“{visible(about.token.text)}”</strong>
            <span class="detail">
              {percent(about.token.probability)}, {sureness(about.token.probability)}; {knew(about.token)}
            </span>
            <span class="detail after">{about.prompt ? `after “${tail(about.prompt, 80)}”` : "at the very beginning"}</span>
          </p>
          <Failure error={explanation.error.value} />
          <Reasons chosen={about.token.token} />
          <EditForm key={about.prompt} prompt={about.prompt} token={about.token.text} />
        </>
      )}
    </section>
  );
}

function Reasons({ chosen }: { chosen: number }) {
  const shown = candidate.value;
  const candidates = explanation.value.value?.candidates;
  if (!candidates) return explanation.waiting.value ? <p class="hint">Looking…</p> : null;
  if (!shown) return <p class="hint">No candidate stands out after this.</p>;
  return (
    <div class={explanation.waiting.value ? "waiting" : ""}>
      <h3>Candidates</h3>
      {!candidates.some(({ token }) => token === chosen) && <p class="hint">The token itself is not among the likeliest.</p>}
      <ul class="candidates" aria-label="Candidates">
        {candidates.map((each) => (
          <Choice key={each.token} candidate={each} shown={each === shown} />
        ))}
      </ul>
      <Evidence evidence={shown.evidence} />
      <Sources sources={shown.sources} />
    </div>
  );
}

function Choice({ candidate: { token, text, probability }, shown }: { candidate: Candidate; shown: boolean }) {
  return (
    <li>
      <button class="candidate" aria-pressed={shown} onClick={() => (picked.value = token)}>
        <span class="name">{visible(text)}</span>
        <Bar share={probability} />
        <span class="number">{percent(probability)}</span>
      </button>
    </li>
  );
}
