// An empty memory: what this is, and a first text to try it with.

import { useSignal } from "@preact/signals";
import { memorize } from "../state/jobs";
import { readOnly } from "../state/key";
import { dialog } from "../state/place";
import { complete, prompt } from "../state/text";

const SAMPLE = `The library of Osk opens at midnight. Its keeper, Irena Vale, lends only books that nobody has finished. \
Readers pay with a sentence of their own, which she copies into a green ledger before dawn. \
In winter the reading room is warmed by a stove that burns old calendars, and the cat sleeps on the month of June.`;

const BEGINNING = "The library of Osk";

export function Welcome() {
  const waiting = useSignal(false);
  const sample = async () => {
    waiting.value = true;
    prompt.value = BEGINNING;
    if (await memorize(SAMPLE, "sample.txt")) await complete();
    waiting.value = false;
  };
  return (
    <div class="welcome">
      <h3>This memory is empty.</h3>
      <p>
        MeMo is a language model that is a memory. Give it a text. It reads it once, then goes on from any sentence of it, shows where each word comes from, and forgets it
        exactly when you ask.
      </p>
      <div class="actions">
        <button class="primary" disabled={waiting.value || readOnly.value} onClick={sample}>
          {waiting.value ? "Memorizing…" : "Memorize a sample"}
        </button>
        <button disabled={readOnly.value} onClick={() => (dialog.value = { kind: "add" })}>
          Add your own text
        </button>
      </div>
    </div>
  );
}
