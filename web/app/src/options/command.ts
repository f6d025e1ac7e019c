/** Commands as lines for a shell. */

import { numberText, type Value } from "../../../fields/field";
import type { OptionTable } from "./table";

/** Values by the names of options, in the order in which they are written. */
export type Options = Readonly<Record<string, Value | boolean | null | undefined>>;

/** The words of an option. */
export function wordsOfOption(name: string, value: Value | true): string[] {
  const option = `--${name.replaceAll("_", "-")}`;
  if (value === true) return [option];
  const text = numberText(value);
  // the program takes a word that begins with a hyphen for an option
  return text.startsWith("-") ? [`${option}=${text}`] : [option, text];
}

/** The words of a command with these options. Those at the program's defaults are left out, except `stated`
 * ones. */
export function commandWords(
  command: string,
  known: OptionTable,
  options: Options,
  stated: readonly string[] = [],
): string[] {
  const words = Object.entries(options).flatMap(([name, value]) => {
    const isUsual = value === known[name]?.default && !stated.includes(name);
    const isOff = value === undefined || value === null || value === false;
    return isOff || isUsual ? [] : wordsOfOption(name, value);
  });
  return [...command.split(" "), ...words];
}

/** These words as a line for a shell. */
export function commandLine(...command: Parameters<typeof commandWords>): string {
  return lineOf(commandWords(...command));
}

/** A choice with its parameters, as `min-separation:50,4`. */
export function withParameters(
  choice: string,
  parameters: readonly (number | null | undefined)[],
): string {
  const texts = parameters.flatMap((parameter) => (parameter == null ? [] : numberText(parameter)));
  return texts.length === 0 ? choice : `${choice}:${texts.join(",")}`;
}

/** Words of a command as a line for a shell. */
export function lineOf(words: readonly string[]): string {
  return ["dpscope", ...words].map(quoted).join(" ");
}

/** A word quoted for a shell. */
function quoted(word: string): string {
  return /^[\w./-][\w.,:=/-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The path of a file of this name, which no program takes for an option. */
export function fileName(name: string): string {
  return name.startsWith("-") ? `./${name}` : name;
}
