// One document: its text, versions and history, and what can be done with it.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import * as memo from "../api/memo";
import type { DocumentState, DocumentText, Excerpt, TransactionList } from "../api/types";
import { locate, parts, type Place } from "../excerpt";
import { count, plural } from "../format";
import { useAnswer } from "../state/answer";
import { readOnly } from "../state/key";
import { refresh, transaction } from "../state/memory";
import { close, dialog } from "../state/place";
import { Log } from "./history";
import { Dialog, Failure, Time } from "./parts";

interface Props {
  id: string;
  version: number | null;
  excerpt: Excerpt | null;
}

export function Document({ id, version, excerpt }: Props) {
  const shown = useSignal(version);
  const answer = useAnswer<DocumentText>();
  const history = useAnswer<TransactionList>();
  const ask = () => void answer.ask(() => memo.read(id, shown.value));
  useEffect(ask, [shown.value, transaction.value]);
  useEffect(() => void history.ask(() => memo.historyOf(id)), [transaction.value]);
  const document = answer.value.value;
  return (
    <Dialog title={id} close={close} wide>
      <Failure error={answer.error.value} again={ask} />
      {document && (
        <>
          <Versions document={document} shown={shown.value} show={(version) => (shown.value = version)} />
          {document.text === null ? <Gone state={document.state} /> : <Text text={document.text} excerpt={excerpt} />}
          <Actions document={document} />
          <details>
            <summary>History</summary>
            <Failure error={history.error.value} />
            <Log transactions={history.value.value?.transactions ?? []} of={id} />
          </details>
        </>
      )}
    </Dialog>
  );
}

interface VersionsProps {
  document: DocumentText;
  shown: number | null;
  show: (version: number) => void;
}

function Versions({ document, shown, show }: VersionsProps) {
  const { versions, state } = document;
  const current = versions.find(({ number }) => number === (shown ?? document.version)) ?? versions.at(-1);
  return (
    <p class="detail">
      <span class={`badge ${state === "live" ? "live" : ""}`}>{state}</span>
      {versions.length > 1 && (
        <select aria-label="Version" value={current?.number} onChange={(event) => show(Number(event.currentTarget.value))}>
          {versions.map(({ number, forgotten }) => (
            <option key={number} value={number}>
              version {number}
              {number === document.version ? ", current" : forgotten ? ", forgotten" : ""}
            </option>
          ))}
        </select>
      )}
      {current && (
        <span>
          {count(current.tokens)} {plural(current.tokens, "token")} · {current.kind === "edit" ? "edited" : "memorized"}{" "}
          <Time at={current.time} />
        </span>
      )}
      {Object.entries(document.labels).map(([name, value]) => (
        <span class="badge" key={name}>
          {name}: {value}
        </span>
      ))}
    </p>
  );
}

function Gone({ state }: { state: DocumentState }) {
  return (
    <p class="hint">
      {state === "forgotten"
        ? "The text is gone: it was forgotten. Its name, a date and a keyed digest are all that is left."
        : "It is not in the memory any more: what brought it was rolled back."}
    </p>
  );
}

function Text({ text, excerpt }: { text: string; excerpt: Excerpt | null }) {
  const mark = useRef<HTMLElement>(null);
  const place = useMemo(() => locate(text, excerpt), [text, excerpt]);
  const all = useMemo(() => parts(text, place), [text, place]);
  useEffect(() => mark.current?.scrollIntoView({ block: "center" }), [text]);
  const marked = ({ start, end }: Place) => place && start <= place.start && place.end <= end;
  return (
    <div class="prose" tabIndex={0} role="region" aria-label="Text">
      {all.map((part) => (
        <div key={part.start}>
          {place && marked(part) ? (
            <>
              {text.slice(part.start, place.start)}
              <mark ref={mark}>{text.slice(place.start, place.end)}</mark>
              {text.slice(place.end, part.end)}
            </>
          ) : (
            text.slice(part.start, part.end)
          )}
        </div>
      ))}
    </div>
  );
}

function Actions({ document: { id, state } }: { document: DocumentText }) {
  const change = useAnswer<unknown>();
  const run = (call: (id: string) => Promise<unknown>) => change.ask(() => call(id).then(refresh));
  if (state === "forgotten") return null;
  return (
    <>
      <div class="actions">
        {state === "live" && <button disabled={readOnly.value} onClick={() => run(memo.retire)}>Retire</button>}
        {state === "retired" && <button disabled={readOnly.value} onClick={() => run(memo.restore)}>Restore</button>}
        {state === "live" && <button onClick={() => (dialog.value = { kind: "prove", id })}>Prove it</button>}
        <button class="danger" disabled={readOnly.value} onClick={() => (dialog.value = { kind: "forget", id })}>
          Forget…
        </button>
        <span class="hint">
          {state === "live"
            ? "Retiring takes it out of the memory and keeps the text."
            : state === "retired"
              ? "Out of the memory; the text is kept."
              : ""}
        </span>
      </div>
      <Failure error={change.error.value} />
    </>
  );
}
