// What was said, as text: each word can be reached by mouse or arrow keys, and says how sure the memory is and how long a context knew it.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { ClassifiedWord } from "../api/types";
import { wordsOf } from "../classes";
import { words as classified } from "../state/lexicon";
import { memoryShare } from "../state/partner";
import { busy, chosen, goOn, stale, words, type Spoken as Saying } from "../state/text";
import { choose } from "../state/why";
import { summary } from "../summary";
import { STEPS as LENGTHS, thickness, title } from "../tint";
import type { Word as Said } from "../words";
import { Classes, pointing, Prompt } from "./classes";
import { Closest } from "./closest";
import { MixtureLegend } from "./partner";
import { useRoving } from "./roving";

export function Spoken({ spoken: { prompt, tokens, done, again } }: { spoken: Saying }) {
  const shown = words.value;
  const chooseWord = (index: number) => choose(shown[index]?.start ?? 0);
  const { container, stop, at, keys } = useRoving(shown.length, ".token", chooseWord);
  const classed = wordsOf(
    shown.map(({ text }) => text),
    classified.value,
    [...prompt].length,
  );
  // What was given is read from its beginning.
  const end = useFollowing(prompt ? tokens.length : 0);
  const click = (index: number) => {
    stop.value = index;
    chooseWord(index);
  };
  return (
    <>
      <p class="spoken">
        {prompt && <Prompt text={prompt} />}
        <span ref={container} role="listbox" aria-label="Words" aria-orientation="horizontal" onKeyDown={keys}>
          {shown.map((word, index) => (
            <Word
              key={index}
              word={word}
              chosen={chosen.value !== null && word.start <= chosen.value && chosen.value < word.end}
              stop={at === index}
              classed={classed[index] ?? null}
              click={() => click(index)}
            />
          ))}
        </span>
        <span ref={end} aria-hidden="true" class={busy.value ? "caret" : ""} />
      </p>
      <Classes />
      <p class="detail" role="status">
        {done && summary(done)}{" "}
        {done?.finish_reason === "length" && !stale.value && (
          <button class="link" onClick={goOn}>
            Go on
          </button>
        )}
      </p>
      {done?.closest && done.closest.length > 0 && <Closest passages={done.closest} />}
      {stale.value && (
        <p class="stale" role="status">
          {stale.value}
          <button class="link" onClick={again}>
            Again
          </button>
        </p>
      )}
      <Legend mixed={tokens.some(({ mixture }) => mixture)} />
    </>
  );
}

/** Pixels that a reader has scrolled back who does not want to follow any more. */
const AWAY = 40;

/** Keeps the end of a growing text in sight, unless the reader has scrolled back. */
function useFollowing(length: number) {
  const end = useRef<HTMLSpanElement>(null);
  const followed = useRef(0);
  useLayoutEffect(() => {
    const section = end.current?.closest("section");
    if (!end.current || !section) return;
    if (length > 0 && section.scrollTop < followed.current - AWAY) return;
    // The legend covers the last lines.
    const room = section.getBoundingClientRect().bottom - 2 * AWAY;
    if (length > 0 && end.current.getBoundingClientRect().bottom > room) end.current.scrollIntoView({ block: "center" });
    followed.current = section.scrollTop;
  }, [length]);
  return end;
}

interface WordProps {
  word: Said;
  chosen: boolean;
  stop: boolean;
  /** The word with classes that it is part of. */
  classed: ClassifiedWord | null;
  click: () => void;
}

function Word({ word, chosen, stop, classed, click }: WordProps) {
  const [, space = "", letters = ""] = /^(\s*)(.*)$/s.exec(word.text) ?? [];
  const lines = !letters && space.includes("\n");
  const pixels = thickness(word.context_tokens);
  const mixture = word.mixture;
  const share = mixture ? { "--share": `${memoryShare(mixture) * 100}%` } : {};
  return (
    <span
      class={classed ? "token known" : "token"}
      role="option"
      aria-selected={chosen}
      tabIndex={stop ? 0 : -1}
      title={title(word)}
      onClick={click}
      {...pointing(classed)}
    >
      {letters && space}
      <span
        class={`tint${pixels ? "" : " unknown"}${mixture ? " mixed" : ""}`}
        style={{ "--sure": `${word.probability * 100}%`, "--reach": `${pixels}px`, ...share }}
      >
        {/* A line break alone has no body to tint: a sign stands for it. */}
        {letters || (lines ? "↵" : space)}
      </span>
      {lines && space}
    </span>
  );
}

function Legend({ mixed }: { mixed: boolean }) {
  return (
    <div class="legend" aria-label="Legend" role="group">
      {mixed ? (
        <MixtureLegend />
      ) : (
        <span>
          guessing <i class="scale" /> sure
        </span>
      )}
      <span title="How many tokens before it the memory had seen together: a token is a word, or a piece of one">
        tokens known before it
        {LENGTHS.map((length, index) => (
          <i class="reach" key={length} style={{ "--reach": `${thickness(length)}px` }}>
            {index === LENGTHS.length - 1 ? `${length}+` : length}
          </i>
        ))}
        <i class="reach unknown">none</i>
      </span>
    </div>
  );
}
