// Numbers, times and texts, in words for the page.

const integers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export const count = (n: number): string => integers.format(n);

export const plural = (n: number, word: string, words = `${word}s`): string => (n === 1 ? word : words);

/** Never rounds to a certainty that is not there. */
export function percent(share: number): string {
  if (share > 0.999 && share < 1) return "> 99.9 %";
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(share * 100).toFixed(share === 1 || share === 0 ? 0 : 1)} %`;
}

/** Of shares that are added up, small ones too have digits. */
export const share = (of: number): string => (of > 0 && of < 0.001 ? `${Number((of * 100).toPrecision(1))} %` : percent(of));

export function bytes(n: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, n < 1 ? 0 : Math.floor(Math.log2(n) / 10));
  return `${power ? (n / 1024 ** power).toFixed(1) : n} ${units[power]}`;
}

/** How long a time of the server is ago, or its date. */
export function ago(time: string, now: number = Date.now()): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) return time;
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return time.slice(0, 10);
}

export const short = (digest: string): string => `${digest.slice(0, 8)}…${digest.slice(-4)}`;

/** A token as a name: its line breaks and the spaces at its ends can be seen. */
export const visible = (text: string): string => text.replace(/\n/g, "↵").replace(/^ | $/g, "·");

/** A token as a word, if it is one: without the space before it. */
export const word = (text: string): string => text.trim() || visible(text);

/** The end of a text, from a word's beginning. */
export function tail(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = text.slice(-length);
  return `…${end.slice(Math.max(0, end.search(/\s/)))}`;
}
