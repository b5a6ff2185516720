// Asks for the key of a server that wants one.

import { useSignal } from "@preact/signals";
import { question } from "../state/key";
import { Dialog, Failure } from "./parts";

export function Key() {
  const key = useSignal("");
  const asked = question.value;
  if (!asked) return null;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (key.value.trim()) asked.answer(key.value.trim());
  };
  return (
    <Dialog title="This server asks for a key" close={() => asked.answer(null)}>
      <form onSubmit={submit}>
        {asked.refused && <Failure error="That key was not accepted." />}
        <label>
          Key
          <input
            type="password"
            autocomplete="off"
            autofocus
            value={key.value}
            onInput={(event) => (key.value = event.currentTarget.value)}
          />
        </label>
        <p class="hint">It is kept until this tab is closed. Whoever runs the server can give you one.</p>
        <div class="actions">
          <button class="primary" disabled={!key.value.trim()}>
            Go on
          </button>
        </div>
      </form>
    </Dialog>
  );
}
