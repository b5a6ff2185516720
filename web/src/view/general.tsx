// What contexts say that the lexicon generalises: how this one was matched, and where its like stands.

import type { GeneralCandidate, GeneralSource } from "../api/types";
import { asOthers, followedBy, matchedAs } from "../general";
import { tail, visible } from "../format";
import { lexicon } from "../state/switch";
import { openDocument } from "../state/place";
import { Bar } from "./parts";

export function General({ general }: { general: GeneralCandidate[] }) {
  if (general.length === 0) return null;
  const levels = (lexicon.value?.classes.length ?? 1) > 1;
  return (
    <>
      <h3>Generalised by the lexicon</h3>
      <ul class="evidence" aria-label="Generalised evidence">
        {general.map((each) => (
          <li key={each.level}>
            <span>
              matched as “{matchedAs(each)}”
              {levels && <span class="detail"> level {each.level}</span>}
            </span>
            <Bar share={each.count / each.total} />
            <span class="detail">{followedBy(each)}</span>
            {each.sources.length > 0 && (
              <ul class="sources">
                {each.sources.map((source, index) => (
                  <li key={index}>
                    <Place source={source} />
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function Place({ source: { differences, place } }: { source: GeneralSource }) {
  const { document, version, excerpt } = place;
  return (
    <>
      <button class="link" aria-label={`Open ${document}`} onClick={() => openDocument(document, version, excerpt)}>
        {document}
      </button>
      <span class="detail">{differences.length > 0 ? asOthers(differences) : "the same words"}</span>
      <blockquote>
        {tail(excerpt.before + excerpt.match, 60)}
        <mark>
          <strong>{excerpt.token.trim() ? excerpt.token : visible(excerpt.token)}</strong>
        </mark>
        {excerpt.after.slice(0, 40)}
        {excerpt.after.length > 40 && "…"}
      </blockquote>
    </>
  );
}
