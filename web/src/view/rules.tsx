// Rules: those that there are, and new ones with what would follow from them before they are added.

import type { Rule, RulesPreview } from "../api/types";
import { byDocument, follows, wouldFollow } from "../knowledge";
import { useAnswer } from "../state/answer";
import { readOnly } from "../state/key";
import { addRules, draft, preview, rules } from "../state/knowledge";
import { dialog, openDocument } from "../state/place";
import { Failure } from "./parts";

const EXAMPLE = `[[rule]]
name = "nationality"
when = [["{x}", "born in", "{y}"], ["{y}", "country", "{z}"]]
then = ["{x}", "nationality", "{z}"]`;

export function Rules() {
  const found = rules.value.value;
  return (
    <>
      <Failure error={rules.error.value} />
      {found?.total === 0 && <p class="hint">There are no rules yet.</p>}
      {found && byDocument(found.rules).map(([document, each]) => <OfDocument key={document} document={document} rules={each} />)}
      <Writing />
    </>
  );
}

function OfDocument({ document, rules }: { document: string; rules: Rule[] }) {
  return (
    <section aria-label={`Rules of ${document}`}>
      <div class="heading">
        <h3>
          <button class="link" aria-label={`Open ${document}`} onClick={() => openDocument(document)}>
            {document}
          </button>
        </h3>
        <button
          class="link danger"
          disabled={readOnly.value}
          aria-label={`Remove ${document}`}
          onClick={() => (dialog.value = { kind: "forget", id: document })}
        >
          Remove…
        </button>
      </div>
      <Listed rules={rules} />
    </section>
  );
}

function Listed({ rules }: { rules: Rule[] }) {
  return (
    <ul class="known">
      {rules.map((rule, index) => (
        <li key={index}>
          <span>
            <strong>{rule.name}</strong> <span class="badge">{rule.kind}</span>
          </span>
          <code>{rule.text}</code>
          <span class="detail">{follows(rule)}</span>
        </li>
      ))}
    </ul>
  );
}

function Writing() {
  const answer = useAnswer<void>();
  const { id, text } = draft.value;
  const ready = id.trim() !== "" && text.trim() !== "" && preview.value.value !== null && !preview.error.value;
  const submit = (event: Event) => {
    event.preventDefault();
    if (ready && !readOnly.value) void answer.ask(addRules);
  };
  return (
    <form class="stating" aria-labelledby="writing" onSubmit={submit}>
      <h3 id="writing">Add rules</h3>
      <label>
        Name
        <input
          value={id}
          placeholder="family.toml"
          onInput={(event) => (draft.value = { ...draft.value, id: event.currentTarget.value })}
        />
      </label>
      <label>
        Rules, in TOML
        <textarea
          class="code"
          rows={6}
          spellcheck={false}
          placeholder={EXAMPLE}
          value={text}
          onInput={(event) => (draft.value = { ...draft.value, text: event.currentTarget.value })}
        />
      </label>
      <Failure error={preview.error.value} />
      {!preview.error.value && preview.value.value && <Preview preview={preview.value.value} />}
      <Failure error={answer.error.value} />
      <div class="actions">
        <button class="primary" disabled={!ready || readOnly.value || answer.waiting.value}>
          {answer.waiting.value ? "Adding…" : "Add rules"}
        </button>
        <span class="hint">Nothing changes until then.</span>
      </div>
    </form>
  );
}

function Preview({ preview: shown }: { preview: RulesPreview }) {
  return (
    <div class={preview.waiting.value ? "preview waiting" : "preview"} role="status" aria-label="Preview">
      <strong>{wouldFollow(shown)}</strong>
      <ul>
        {shown.examples.map((example) => (
          <li key={example}>{example}</li>
        ))}
        {shown.facts + shown.texts > shown.examples.length && <li aria-label="and more">…</li>}
      </ul>
    </div>
  );
}
