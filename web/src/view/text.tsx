// The text in the middle: a prompt, and what the memory says after it.

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { empty } from "../state/memory";
import { busy, complete, failure, options, prompt, read, spoken, stop } from "../state/text";
import { generalise, lexicon } from "../state/switch";
import { Modes } from "./partner";
import { Failure } from "./parts";
import { Spoken } from "./spoken";
import { Welcome } from "./welcome";

export function Text() {
  const open = useSignal(false);
  const panel = useId();
  const ready = prompt.value !== "" && !empty.value;
  const submit = (event: Event) => {
    event.preventDefault();
    if (ready) void complete();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  };
  return (
    <section class="text" aria-labelledby="text">
      <h2 id="text">Text</h2>
      {empty.value && <Welcome />}
      <form onSubmit={submit} onKeyDown={keys}>
        <textarea
          aria-label="Prompt"
          rows={3}
          placeholder="Begin a sentence; the memory goes on."
          value={prompt.value}
          onInput={(event) => (prompt.value = event.currentTarget.value)}
        />
        <div class="actions">
          {busy.value ? (
            <button type="button" class="primary" onClick={stop}>
              Stop
            </button>
          ) : (
            <button class="primary" disabled={!ready} title="Ctrl+Enter, or ⌘+Enter">
              Complete
            </button>
          )}
          <button
            type="button"
            disabled={!ready || busy.value}
            title="Colours the prompt itself by how well the memory knows it, word by word"
            onClick={read}
          >
            How well is it known?
          </button>
          <Modes />
          {lexicon.value && <Generalise />}
          <button
            type="button"
            class="quiet options-button"
            aria-expanded={open.value}
            aria-controls={panel}
            onClick={() => (open.value = !open.value)}
          >
            Options
          </button>
        </div>
        <div id={panel} hidden={!open.value}>
          <Options />
        </div>
      </form>
      <Failure error={failure.value} again={spoken.value?.again} />
      {spoken.value && <Spoken spoken={spoken.value} />}
    </section>
  );
}

/** Whether the lexicon counts. */
function Generalise() {
  return (
    <label class="switch" title="Whether words that the lexicon has in one class count as alike: for what is said, and why">
      <input
        type="checkbox"
        role="switch"
        checked={generalise.value}
        onChange={(event) => (generalise.value = event.currentTarget.checked)}
      />
      Generalise
    </label>
  );
}

function Options() {
  const { max_tokens, temperature, seed } = options.value;
  const set = (name: keyof typeof options.value) => (event: { currentTarget: HTMLInputElement }) => {
    const value = event.currentTarget.valueAsNumber;
    if (!Number.isNaN(value)) options.value = { ...options.value, [name]: value };
  };
  return (
    <div class="options">
      <label>
        <span>
          Length <small>in tokens</small>
        </span>
        <input type="number" min={1} max={2048} value={max_tokens} onInput={set("max_tokens")} />
      </label>
      <label>
        Temperature
        <input type="number" min={0} max={5} step={0.1} value={temperature} onInput={set("temperature")} />
      </label>
      <label>
        Seed
        <input type="number" min={0} step={1} value={seed} disabled={temperature === 0} onInput={set("seed")} />
      </label>
      <p class="hint">At temperature 0 it recalls; above, it draws.</p>
    </div>
  );
}
