// Many things, one stop for the Tab key: arrows go on from there.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowUp: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowDown: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
};

/** Of `count` elements that `selector` finds in a container. `enter` is for Enter and the space bar. */
export function useRoving(count: number, selector: string, enter?: (at: number) => void) {
  const container = useRef<HTMLSpanElement>(null);
  const stop = useSignal(0);
  const last = count - 1;
  const at = Math.min(stop.value, last);
  const keys = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (enter && (event.key === "Enter" || event.key === " ")) enter(at);
    else if (step) stop.value = Math.max(0, Math.min(last, step(at, last)));
    else return;
    event.preventDefault();
    container.current?.querySelectorAll<HTMLElement>(selector)[stop.value]?.focus();
  };
  return { container, stop, at, keys };
}
