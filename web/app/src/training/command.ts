/** Commands of trainings with their files, and what the program says of them. */

import type { Field } from "../../../fields/field";
import { failureOf } from "../../../protocol/protocol";
import { CANARY_FILE, dataFile } from "../copies/trained";
import { withLabels } from "../options/table";
import type { SentCommand, SentFiles } from "../workers/sent-files";

/** The command with these files. */
export function sentCommand(words: string[], files: SentFiles | undefined): SentCommand {
  const { data, labels, canaries } = files ?? {};
  const named = [data, labels].flatMap((file) => (file === undefined ? [] : [file]));
  const all = named.map(({ name, bytes }) => [dataFile(name), bytes] as const);
  if (canaries !== undefined) all.push([CANARY_FILE, canaries.file]);
  return { words, names: all.map(([name]) => name), contents: all.map(([, bytes]) => bytes) };
}

/** Why settings are refused, with the labels of the page in place of options. */
export function refusalOf(thrown: unknown, fields: Readonly<Record<string, Field>>): string {
  if (typeof thrown === "string") return thrown;
  const all = Object.values(fields);
  return withLabels(failureOf(thrown).message, (option) => {
    return all.find(({ record }) => record === option)?.label.replace(" (optional)", "");
  });
}
