// The classes of a word, shown where the pointer or the focus is, and the words of a prompt that have some.

import { useEffect } from "preact/hooks";
import type { ClassifiedWord, ClassMembers, WordClass } from "../api/types";
import { cut, type Piece } from "../classes";
import { count } from "../format";
import { classed } from "../general";
import { useAnswer } from "../state/answer";
import { members, pointed, words } from "../state/lexicon";
import { useRoving } from "./roving";

const ID = "classes-of-a-word";

const leave = () => (pointed.value = null);

/** What an element needs to show the classes of its word. */
export function pointing(word: ClassifiedWord | null) {
  if (!word) return {};
  const show = (event: { currentTarget: HTMLElement }) => {
    // The first line, if it is on several.
    const [box] = event.currentTarget.getClientRects();
    if (box) pointed.value = { word, left: box.left, top: box.top };
  };
  return {
    "aria-describedby": pointed.value?.word === word ? ID : undefined,
    onMouseEnter: show,
    onMouseLeave: leave,
    onFocus: show,
    onBlur: leave,
  };
}

/** A prompt whose words with classes can be pointed at, and reached by keys. */
export function Prompt({ text }: { text: string }) {
  const pieces: Piece[] = cut(text, words.value);
  const known = pieces.filter(({ word }) => word !== null);
  const { container, stop, at, keys } = useRoving(known.length, "button");
  if (known.length === 0) return <span class="prompt">{text}</span>;
  return (
    <span class="prompt" ref={container} role="toolbar" aria-label="Words of the prompt that have classes" onKeyDown={keys}>
      {pieces.map(({ text, word }, index) => {
        if (!word) return text;
        const place = known.findIndex((piece) => piece === pieces[index]);
        return (
          <button
            key={index}
            type="button"
            class="word"
            tabIndex={place === at ? 0 : -1}
            onClick={(event) => {
              stop.value = place;
              // Not every browser focuses a button that is clicked.
              event.currentTarget.focus();
            }}
            {...pointing(word)}
          >
            {text}
          </button>
        );
      })}
    </span>
  );
}

/** The classes of the word that is pointed at. Escape sends them away. */
export function Classes() {
  const at = pointed.value;
  useEffect(() => {
    const escape = (event: KeyboardEvent) => event.key === "Escape" && leave();
    addEventListener("keydown", escape);
    addEventListener("scroll", leave, true);
    return () => {
      removeEventListener("keydown", escape);
      removeEventListener("scroll", leave, true);
      leave();
    };
  }, []);
  if (!at) return null;
  const { word, left, top } = at;
  return (
    <div class="classes" id={ID} role="tooltip" style={{ "--left": `${left}px`, "--top": `${top}px` }}>
      {word.classes.map((each) => (
        <Class key={each.level} word={word.word} of={each} levels={word.classes.length > 1 || each.level > 0} />
      ))}
    </div>
  );
}

function Class({ word, of: { level, class: name }, levels }: { word: string; of: WordClass; levels: boolean }) {
  const answer = useAnswer<ClassMembers>();
  useEffect(() => void answer.ask(() => members(name)), [name]);
  const found = answer.value.value;
  return (
    <p>
      <strong>{word}</strong> counts as <strong>{classed(name)}</strong>
      {levels && ` (level ${level})`}
      {found && <span class="detail"> {found.total === 1 ? "alone" : likes(found)}</span>}
    </p>
  );
}

/** The words of a class, as far as they are known. */
const likes = ({ words, total }: ClassMembers): string =>
  `like ${words.join(", ")}${total > words.length ? ` and ${count(total - words.length)} more` : ""}`;
