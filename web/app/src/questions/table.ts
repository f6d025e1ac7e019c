/** What the program can be asked about recorded data: the table of its options, and how a page shows them. */

import { type Choice, labelOf, splitDefault, withLabels } from "../options/table";
import type { Command } from "../state/given";
import table from "./questions.json";

/** An option of a command. */
export interface Option {
  /** With underscores. */
  name: string;
  kind: "flag" | "boolean" | "integer" | "number" | "choice" | "path" | "text";
  help: string;
  is_required?: boolean;
  is_list?: boolean;
  /** Whether its value stands directly after the command, without its name. */
  is_positional?: boolean;
  default?: string;
  value_name?: string;
  choices?: readonly Choice[];
  /** Options that exclude it. */
  conflicts?: readonly string[];
}

interface Question {
  about: string;
  options: readonly Option[];
}

const QUESTIONS = table as Record<`audit ${Command}`, Question>;

export function questionOf(command: Command): Question {
  return QUESTIONS[`audit ${command}`];
}

export function optionOf(command: Command, name: string): Option | undefined {
  return questionOf(command).options.find((option) => option.name === name);
}

/** Whether files are dropped for an option: some read a number or a file. */
export function takesFiles({ kind, value_name }: Option): boolean {
  return kind === "path" || value_name?.endsWith("|FILE") === true;
}

/** The option for the folder of a committed plan, where a command has one. */
export function planOf(command: Command): Option | undefined {
  return questionOf(command).options.find(({ value_name }) => value_name === "DIR");
}

/** Whether two options exclude each other; the table says so of both. */
export function areExclusive(one: Option, other: Option): boolean {
  return one.conflicts?.includes(other.name) === true;
}

/** What the program does without the option, in its words. */
export function defaultOf(option: Option): string | undefined {
  return option.default ?? splitDefault(option.help).usual;
}

/** The help of an option, whose default is shown by itself. */
export function hintOf(command: Command, { help }: Option): string {
  return named(command, splitDefault(help).help);
}

/** Text of the program in which options have the labels of their fields. */
export function named(command: Command, text: string): string {
  return withLabels(text, (option) => optionOf(command, option) && labelOf(option));
}
