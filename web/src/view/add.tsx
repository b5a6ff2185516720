// Adding documents: pasted, chosen, or dropped anywhere on the page.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { memorize, upload } from "../state/jobs";
import { close, section } from "../state/place";
import { Dialog } from "./parts";

export function Add() {
  const text = useSignal("");
  const id = useSignal("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    close();
    section.value = "documents";
    void memorize(text.value, id.value.trim());
  };
  const choose = (files: FileList | null) => {
    if (!files?.length) return;
    close();
    section.value = "documents";
    void upload(files);
  };
  return (
    <Dialog title="Add a document" close={close}>
      <form onSubmit={submit}>
        <label>
          Text
          <textarea
            rows={9}
            required
            autofocus
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        <label>
          <span>
            Name <small>optional; the same name again becomes a new version</small>
          </span>
          <input value={id.value} placeholder="notes.txt" onInput={(event) => (id.value = event.currentTarget.value)} />
        </label>
        <div class="actions">
          <button class="primary" disabled={!text.value.trim()}>
            Memorize
          </button>
          <label class="button">
            Choose files…
            <input class="hidden" type="file" multiple onChange={(event) => choose(event.currentTarget.files)} />
          </label>
          <span class="hint">or drop them anywhere on the page.</span>
        </div>
      </form>
    </Dialog>
  );
}

/** The whole page takes files. */
export function Drop() {
  const over = useSignal(false);
  useEffect(() => {
    const files = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const on = (name: "dragover" | "dragleave" | "drop", handle: (event: DragEvent) => void) => {
      const listener = (event: DragEvent) => {
        if (!files(event)) return;
        event.preventDefault();
        handle(event);
      };
      addEventListener(name, listener);
      return () => removeEventListener(name, listener);
    };
    const off = [
      on("dragover", () => (over.value = true)),
      on("dragleave", (event) => event.relatedTarget === null && (over.value = false)),
      on("drop", (event) => {
        over.value = false;
        close();
        section.value = "documents";
        if (event.dataTransfer) void upload(event.dataTransfer.files);
      }),
    ];
    return () => off.forEach((stop) => stop());
  }, []);
  return over.value ? <div class="drop">Drop to memorize</div> : null;
}
