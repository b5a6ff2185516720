// The reason on the right: why the memory said a token.

import type { Candidate } from "../api/types";
import { percent, tail, visible, word } from "../format";
import { look } from "../state/inside";
import { chosen, spoken } from "../state/text";
import { asked, candidate, choose, explanation, picked, probability, recency } from "../state/why";
import { knew, sureness, title } from "../tint";
import type { Word } from "../words";
import { Derivation } from "./derivation";
import { Edited, EditForm } from "./edit";
import { Evidence } from "./evidence";
import { General } from "./general";
import { Both, Shares } from "./partner";
import { Bar, Failure, Name } from "./parts";
import { Sources } from "./sources";

export function Why() {
  const about = asked.value;
  return (
    <section class="why" aria-labelledby="why">
      <h2 id="why">Why</h2>
      <Edited />
      {!about && (
        <p class="hint">
          Choose a word in the text, and this shows what made the memory say it: after which words it was seen, how
          often, and where that stands.
        </p>
      )}
      {about && (
        <>
          <p class="said">
            <strong>“{word(about.word?.text ?? about.text)}”</strong>
            {about.word && <Pieces word={about.word} />}
            <span class="detail">
              <Sureness />
            </span>
            <span class="detail after">{about.prompt ? `after “${tail(about.prompt, 80)}”` : "at the very beginning"}</span>
          </p>
          {about.token.mixture && <Shares shares={about.token.mixture} />}
          <Failure error={explanation.error.value} />
          <Reasons token={about.token.token} />
          <button class="link inside-link" onClick={() => look(about.prompt, about.token.token, recency.value)}>
            How it came about, layer by layer
          </button>
          <EditForm key={about.prompt} prompt={about.prompt} token={about.text} />
        </>
      )}
    </section>
  );
}

/** The tokens of a word, each of which has a reason of its own. */
function Pieces({ word: { start, end } }: { word: Word }) {
  return (
    <span class="pieces" role="group" aria-label="Pieces of the word">
      {spoken.value?.tokens.slice(start, end).map((token, index) => (
        <button key={index} aria-pressed={chosen.value === start + index} title={title(token)} onClick={() => choose(start + index)}>
          {visible(token.text)}
        </button>
      ))}
    </span>
  );
}

/** How sure the memory was of the token, and is, if that is not the same. */
function Sureness() {
  const [about, sure] = [asked.value, probability.value];
  if (!about || !sure) return null;
  const then = `${percent(sure.then)}, ${sureness(sure.then)}`;
  if (!sure.stale) return `${then}; ${knew(about.token)}`;
  if (!explanation.value.value) return `${then} when it was said`;
  return sure.now === null
    ? `not among the likeliest any more; ${then} when it was said`
    : `${percent(sure.now)} now; ${then} when it was said`;
}

function Reasons({ token: own }: { token: number }) {
  const shown = candidate.value;
  const candidates = explanation.value.value?.candidates;
  const partner = explanation.value.value?.partner;
  if (!candidates) return explanation.waiting.value ? <p class="hint">Looking…</p> : null;
  if (!shown) return <p class="hint">No candidate stands out after this.</p>;
  return (
    <div class={explanation.waiting.value ? "waiting" : ""}>
      {partner ? (
        <Both memory={candidates} shown={shown} partner={partner} />
      ) : (
        <>
          <h3>Candidates</h3>
          {!candidates.some(({ token }) => token === own) && <p class="hint">The token itself is not among the likeliest.</p>}
          <ul class="candidates" aria-label="Candidates">
            {candidates.map((each) => (
              <Choice key={each.token} candidate={each} shown={each === shown} />
            ))}
          </ul>
        </>
      )}
      <Evidence evidence={shown.evidence} />
      <General general={shown.general} />
      {shown.derivation.length > 0 && (
        <>
          <h3>Follows by rule</h3>
          <Derivation steps={shown.derivation} />
        </>
      )}
      <Sources sources={shown.sources} />
    </div>
  );
}

function Choice({ candidate: { token, text, probability }, shown }: { candidate: Candidate; shown: boolean }) {
  return (
    <li>
      <button class="candidate" aria-pressed={shown} onClick={() => (picked.value = token)}>
        <Name text={text} />
        <Bar share={probability} />
        <span class="number">{percent(probability)}</span>
      </button>
    </li>
  );
}
