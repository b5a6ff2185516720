// The memory itself: what is in it, how large it is, and its digest.

import { bytes, count, plural } from "../format";
import { change, declined, given } from "../state/key";
import { look } from "../state/inside";
import { refresh, stats } from "../state/memory";
import { dialog } from "../state/place";
import { prompt } from "../state/text";
import { theme, toggle } from "../state/theme";
import { Chooser } from "./models";
import { Digest, Icon } from "./parts";
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
        <Chooser />
      </h1>
      {memory && <Facts memory={memory} />}
      <div class="tools">
        <button
          title="Shows that nothing of a forgotten document would be left. Changes nothing."
          onClick={() => (dialog.value = { kind: "prove", id: null })}
          disabled={!memory?.documents}
        >
          Prove it
        </button>
        {(given.value || declined.value) && (
          <button class="quiet" onClick={() => change().then(refresh, () => {})}>
            {declined.value ? "Give a key" : "Change key"}
          </button>
        )}
        <button
          class="quiet icon-only"
          aria-label="Look inside"
          title="Look inside the memory: its layers at work on a sentence"
          onClick={() => look(prompt.value)}
        >
          <Icon name="layers" />
        </button>
        <button
          class="quiet icon-only"
          aria-label="Knowledge"
          title="Knowledge: facts and rules"
          onClick={() => (dialog.value = { kind: "knowledge", tab: "facts" })}
        >
          <Icon name="graph" />
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

function Facts({ memory: { documents, tokens, bytes: size, bytes_per_token, lexicon, digest } }: { memory: Stats }) {
  return (
    <dl class="facts" aria-label="The memory">
      <div>
        <dt>Documents</dt>
        <dd>{count(documents ?? 0)}</dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>{count(tokens)}</dd>
      </div>
      <div title={bytes_per_token === null ? "" : `${count(bytes_per_token)} bytes for each token`}>
        <dt>Memory</dt>
        <dd>{bytes(size)}</dd>
      </div>
      {lexicon && (
        <div title={`Words that count as alike: ${lexicon.classes.map((n) => `${count(n)} ${plural(n, "class", "classes")}`).join(", then ")}`}>
          <dt>Lexicon</dt>
          <dd>
            {count(lexicon.words)} {plural(lexicon.words, "word")}
          </dd>
        </div>
      )}
      <div title="Two memories with the same digest are the same, bit for bit">
        <dt>Digest</dt>
        <dd>{digest ? <Digest value={digest} /> : "…"}</dd>
      </div>
    </dl>
  );
}
