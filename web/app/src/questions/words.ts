/** The command of a question: one list of words that is run here, and copied. */

import { fileName, wordsOfOption } from "../options/command";
import { labelOf } from "../options/table";
import type { Command, Given } from "../state/given";
import { areExclusive, defaultOf, type Option, questionOf, takesFiles } from "./table";

/** Paths of the reader's files, by option. */
export type Paths = ReadonlyMap<string, readonly string[]>;

export interface Asking {
  words: string[];
  /** Options that are not used, each with the one that excludes it. */
  excluded: ReadonlyMap<string, Option>;
  /** Required options that are not given. */
  missing: readonly Option[];
}

/** The command that asks what is given, in the order of the table; defaults are left out. Of options that
 * exclude each other files come first, then the first of the table: the others are not used. Files that
 * exclude each other are left to the program to refuse. Values without the name of an option come first. */
export function wordsOf(command: Command, given: Given, paths: Paths): Asking {
  const { options } = questionOf(command);
  const used = new Set(options.filter(({ name }) => paths.has(name)));
  const excluderOf = (option: Option) => [...used].find((other) => areExclusive(option, other));
  for (const option of options) {
    const isGiven = textOf(command, option, given) !== undefined;
    if (isGiven && excluderOf(option) === undefined) used.add(option);
  }
  const excluded = new Map<string, Option>();
  for (const option of options) {
    const excluder = used.has(option) ? undefined : excluderOf(option);
    if (excluder !== undefined) excluded.set(option.name, excluder);
  }
  const isFirst = ({ is_positional }: Option) => is_positional === true;
  const words = [...options.filter(isFirst), ...options.filter((option) => !isFirst(option))]
    .filter((option) => used.has(option))
    .flatMap((option) => {
      const values = paths.get(option.name) ?? [textOf(command, option, given) ?? ""];
      return values.flatMap((value) => wordsOfValue(option, value));
    });
  const missing = options.filter((option) => option.is_required === true && !used.has(option));
  return { words: ["audit", command, ...words], excluded, missing };
}

/** The text of an option that differs from its default. Options that are files have no text. */
export function textOf(command: Command, option: Option, given: Given): string | undefined {
  const text = given[`${command}.${option.name}`]?.trim() ?? "";
  const isOff = option.kind === "flag" && text !== "true";
  return option.kind === "path" || isOff || text === "" || text === defaultOf(option)
    ? undefined
    : text;
}

function wordsOfValue({ name, kind, is_positional }: Option, value: string): string[] {
  if (is_positional === true) return [fileName(value)];
  return wordsOfOption(name, kind === "flag" ? true : value);
}

/** What a reader must still enter before the program is asked. An audit without required options needs a
 * file, or an option that replaces its first file. */
export function stillNeeded(command: Command, given: Given, paths: Paths): string | undefined {
  const { options } = questionOf(command);
  const { missing } = wordsOf(command, given, paths);
  const isStarted = options.some(
    (option) =>
      paths.has(option.name) ||
      (textOf(command, option, given) !== undefined && replacesFiles(option, options)),
  );
  if (!isStarted) return "Your result will appear here";
  return missing.length === 0
    ? undefined
    : `Now add: ${missing.map(({ name }) => labelOf(name).toLowerCase()).join(", ")}`;
}

/** Whether an option starts an audit without a file. */
function replacesFiles(option: Option, options: readonly Option[]): boolean {
  const first = options.find(takesFiles);
  return option.is_required === true || (first !== undefined && areExclusive(option, first));
}

/** Names in the state that are no options of the command, or that only files can give. */
export function unknownOf(command: Command, given: Given): string[] {
  const known = questionOf(command).options.filter(({ kind }) => kind !== "path");
  const names = new Set(known.map(({ name }) => `${command}.${name}`));
  return Object.keys(given).filter((name) => name.startsWith(`${command}.`) && !names.has(name));
}
