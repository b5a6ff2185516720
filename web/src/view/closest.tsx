// What the documents have that is like a prompt which the memory does not know.

import type { Passage } from "../api/types";
import { openDocument } from "../state/place";

export function Closest({ passages }: { passages: Passage[] }) {
  return (
    <>
      <h3>Closest passages</h3>
      <ul class="sources" aria-label="Closest passages">
        {passages.map((passage) => (
          <li key={`${passage.document} ${passage.offset}`}>
            <Place passage={passage} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Place({ passage: { document, version, line, excerpt, words } }: { passage: Passage }) {
  const place = { before: "", match: excerpt, token: "", after: "" };
  return (
    <>
      <button class="link" aria-label={`Open ${document}`} onClick={() => openDocument(document, version, place)}>
        {document}
      </button>
      <span class="detail">
        line {line}, shares {words.join(", ")}
      </span>
      <blockquote>{excerpt.trim()}</blockquote>
    </>
  );
}
