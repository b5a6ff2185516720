// The model that the page is about: its name, or a choice where the server has several; and a new one.

import { useSignal } from "@preact/signals";
import { stats } from "../state/memory";
import { chosen, create, open, served } from "../state/models";
import { close, dialog } from "../state/place";
import { Dialog, Failure } from "./parts";

/** No model has this name. */
const NEW = "/";

export function Chooser() {
  const { models, can_create } = served.value ?? { models: [], can_create: false };
  const current = stats.value?.model ?? chosen.value ?? "";
  if (models.length < 2 && !can_create) return current ? <small>{current}</small> : null;
  const choose = (select: HTMLSelectElement) => {
    if (select.value !== NEW) return open(select.value);
    select.value = current;
    dialog.value = { kind: "new-model" };
  };
  return (
    <select aria-label="Model" value={current} onChange={(event) => choose(event.currentTarget)}>
      {!models.some(({ name }) => name === current) && <option value={current}>{current || "no model yet"}</option>}
      {models.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
      {can_create && <option value={NEW}>New model…</option>}
    </select>
  );
}

export function NewModel() {
  const name = useSignal("");
  const error = useSignal<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    error.value = null;
    await create(name.value.trim()).catch((refused: unknown) => (error.value = refused));
  };
  return (
    <Dialog title="A new model" close={close}>
      <form onSubmit={submit}>
        <Failure error={error.value} />
        <label>
          Name
          <input autofocus autocomplete="off" value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
        </label>
        <p class="hint">It is a memory of its own, which begins empty. Letters, digits, “-”, “_” and “.” make a name.</p>
        <div class="actions">
          <button class="primary" disabled={!name.value.trim()}>
            Make it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
