// Where a token stands in the documents, with what matches around it.

import type { Source } from "../api/types";
import { count, plural, tail, visible } from "../format";
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

function Place({ source: { document, version, match_tokens, passage } }: { source: Source }) {
  // A mark that began with a space would begin on the line before.
  const match = passage.match.trimStart();
  const space = passage.match.slice(0, passage.match.length - match.length);
  return (
    <>
      <button class="link" aria-label={`Open ${document}`} onClick={() => openDocument(document, version, passage)}>
        {document}
      </button>
      <span class="detail">
        {count(match_tokens)} {plural(match_tokens, "token")} match ·{" "}
        <button
          class="link danger"
          aria-label={`Forget ${document}`}
          onClick={() => (dialog.value = { kind: "forget", id: document })}
        >
          Forget…
        </button>
      </span>
      <blockquote>
        {tail(passage.before, 60)}
        {space}
        <mark>
          {match}
          <strong>{passage.token.trim() ? passage.token : visible(passage.token)}</strong>
        </mark>
        {passage.after.slice(0, 60)}
        {passage.after.length > 60 && "…"}
      </blockquote>
    </>
  );
}
