// The documents: what the memory has read.

import type { Document, DocumentMatches, DocumentState } from "../api/types";
import { count, plural, tail } from "../format";
import { contents, LIMIT, page, rows, search, show, turn } from "../state/documents";
import { readOnly } from "../state/key";
import { empty } from "../state/memory";
import { dialog, openDocument } from "../state/place";
import { Jobs } from "./jobs";
import { Failure, Icon, Pages, Time } from "./parts";

const STATES: (DocumentState | "")[] = ["", "live", "retired", "forgotten", "rolled back"];

export function Documents() {
  const found = rows.value.value;
  return (
    <section class="documents" aria-labelledby="documents">
      <div class="heading">
        <h2 id="documents">Documents</h2>
        <button disabled={readOnly.value} onClick={() => (dialog.value = { kind: "add" })}>
          <Icon name="plus" /> Add
        </button>
      </div>
      <div class="filter">
        <input
          type="search"
          aria-label="Search documents"
          placeholder="Names and texts"
          value={page.value.search}
          onInput={(event) => later(event.currentTarget.value)}
        />
        <select aria-label="State" value={page.value.state} onChange={(event) => show(event.currentTarget.value as DocumentState | "")}>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {state || "all"}
            </option>
          ))}
        </select>
      </div>
      <Jobs />
      <Failure error={rows.error.value} />
      {found && (found.documents.length ? <List documents={found.documents} /> : <Nothing />)}
      {found && <Pages label="Pages of documents" offset={page.value.offset} limit={LIMIT} total={found.total} turn={turn} />}
      <Contents />
    </section>
  );
}

/** Documents whose texts contain what is searched for, each with its first place. */
function Contents() {
  const found = contents.value.value?.documents ?? [];
  if (found.length === 0) return null;
  return (
    <>
      <h3>In the texts</h3>
      <ul class="rows" aria-label="Found in texts">
        {found.slice(0, LIMIT).map((each) => (
          <li key={each.document} class={each.live ? "" : "gone"}>
            <Containing found={each} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Containing({ found: { document, version, count: times, matches } }: { found: DocumentMatches }) {
  const [first] = matches;
  const place = first ? { before: first.before, match: first.match, token: "", after: first.after } : null;
  return (
    <button class="row" onClick={() => openDocument(document, version, place)}>
      <span class="name">{document}</span>
      {first && (
        <span class="detail name">
          {tail(first.before, 20)}
          <mark>{first.match}</mark>
          {first.after}
        </span>
      )}
      <span class="detail">
        {count(times)} {plural(times, "place")}
      </span>
    </button>
  );
}

let timer = 0;

/** Searches when the user pauses. */
function later(text: string): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => search(text), 200);
}

function List({ documents }: { documents: Document[] }) {
  return (
    <ul class="rows" aria-label="Documents">
      {documents.map((row) => (
        <li key={row.id} class={row.state === "live" ? "" : "gone"}>
          <button class="row" onClick={() => openDocument(row.id)}>
            <span class="name">{row.id}</span>
            <span class="detail">
              {count(row.tokens)} {plural(row.tokens, "token")}
              {row.time && (
                <>
                  {" · "}
                  <Time at={row.time} />
                </>
              )}
              {row.kind !== "text" && <span class="badge">{row.kind}</span>}
              {row.state !== "live" && <span class="badge">{row.state}</span>}
              {row.versions.length > 1 && <span class="badge">{row.versions.length} versions</span>}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Nothing() {
  const { search, state } = page.value;
  return (
    <p class="hint">
      {search || state ? "No document has such a name or label." : empty.value ? "Nothing memorized yet. Drop a text file here, or add one." : ""}
    </p>
  );
}
