// Where a token stands in the documents, with what matches around it.

import type { Source } from "../api/types";
import { count, plural, tail, visible } from "../format";
import { readOnly } from "../state/key";
import { dialog, openDocument } from "../state/place";

export function Sources({ sources }: { sources: Source[] }) {
  return (
    <>
      <h3>Sources</h3>
      {sources.length === 0 && <p class="hint">No document has it after this context.</p>}
      <ul class="sources" aria-label="Sources">
        {sources.map((source, index) => (
          <li key={index}>
            <Place source={source} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Place({ source: { document, version, match_tokens, excerpt } }: { source: Source }) {
  // A mark that began with a space would begin on the line before.
  const match = excerpt.match.trimStart();
  const space = excerpt.match.slice(0, excerpt.match.length - match.length);
  return (
    <>
      <button class="link" aria-label={`Open ${document}`} onClick={() => openDocument(document, version, excerpt)}>
        {document}
      </button>
      <span class="detail">
        {count(match_tokens)} {plural(match_tokens, "token")} match ·{" "}
        <button
          class="link danger"
          disabled={readOnly.value}
          aria-label={`Forget ${document}`}
          onClick={() => (dialog.value = { kind: "forget", id: document })}
        >
          Forget…
        </button>
      </span>
      <blockquote>
        {tail(excerpt.before, 60)}
        {space}
        <mark>
          {match}
          <strong>{excerpt.token.trim() ? excerpt.token : visible(excerpt.token)}</strong>
        </mark>
        {excerpt.after.slice(0, 60)}
        {excerpt.after.length > 60 && "…"}
      </blockquote>
    </>
  );
}
