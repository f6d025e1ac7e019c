/** What tests of bundles do without workers. */

import type { CommandOf } from "../app/src/workers/sent-files";

/** The failure that a call throws. */
export function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (failure) {
    return failure;
  }
  return undefined;
}

interface Assigner {
  assign(size: number): { first: number; end: number } | undefined;
}

/** What is left, in ranges of so many runs of each world. */
export function assigned(audit: Assigner, size: number): { first: number; end: number }[] {
  const ranges = [];
  for (let range = audit.assign(size); range !== undefined; range = audit.assign(size)) {
    ranges.push(range);
  }
  return ranges;
}

/** Commands of a bundle, made of words and of the text of each file that they name. */
export function commandsOf<C>(Command: CommandOf<C>) {
  return (
    words: readonly string[],
    files: Readonly<Record<string, string | Uint8Array>> = {},
  ): C => {
    const bytes = (content: string | Uint8Array) =>
      typeof content === "string" ? new TextEncoder().encode(content) : content;
    return new Command([...words], Object.keys(files), Object.values(files).map(bytes));
  };
}

/** The words with other values of these options, which are appended where they are missing. */
export function withOptions(
  words: readonly string[],
  options: Readonly<Record<string, string>>,
): string[] {
  const changed = [...words];
  for (const [option, value] of Object.entries(options)) {
    const at = changed.indexOf(option);
    if (at < 0) changed.push(option, value);
    else changed[at + 1] = value;
  }
  return changed;
}
