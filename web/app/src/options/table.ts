/** What fields and printed commands know of the program's options, from the generated `options.json`. */

import type { ChoiceField, NumberField, Value } from "../../../fields/field";

export interface Choice {
  name: string;
  help: string;
}

interface Option {
  kind?: string;
  /** Where it is the hint of a field. */
  help?: string;
  default?: Value;
  choices?: readonly Choice[];
}

/** The options of a command about which there is something to know. */
export type OptionTable = Readonly<Record<string, Option>>;

/** Labels of choices whose names do not read well. */
const LABELS: Readonly<Record<string, string>> = { "add-remove": "Add or remove" };

/** `set_size` and `worst-case` for a reader: “Set size” and “Worst case”. */
export function labelOf(name: string): string {
  const words = name.replace(/[-_]/g, " ");
  return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

const DEFAULT = /\s*\[default: (.*)\]$/;

/** Help of an option without its default, and the default in the words of the program. */
export function splitDefault(help: string): { help: string; usual: string | undefined } {
  return { help: help.replace(DEFAULT, ""), usual: DEFAULT.exec(help)?.[1] };
}

/** The default with one value of another option, of a text such as `150; lenet 500`. */
export function defaultWith(value: string, usual: string): string | undefined {
  return usual.split(/[;,] /).reduce((found, part) => {
    return part.startsWith(`${value} `) ? part.slice(value.length + 1) : found;
  });
}

/** Text of the program in which options have the labels of their fields; code between backticks stays. */
export function withLabels(text: string, labelOf: (option: string) => string | undefined): string {
  const inWords = (found: string, name: string) => labelOf(name.replaceAll("-", "_")) ?? found;
  return text
    .split("`")
    .map((part, at) => (at % 2 === 0 ? part.replace(NAMED, inWords) : part))
    .join("`");
}

/** An option in text of the program, with what stands for its value. */
const NAMED = /--([a-z][a-z-]*)(=?<[^>]+>|\s<[^>]+>|[ =][A-Z][A-Z_|]*(?![\w-]))?(\.\.\.)?/g;

/** Values of the options of a table: numbers, but for these choices. */
export type Values<T, Choices = object> = Choices & Record<Exclude<keyof T, keyof Choices>, number>;

/** Names of the fields of a record that have values of a type. */
type NamesOf<Q, V> = { [R in keyof Q]-?: NonNullable<Q[R]> extends V ? R : never }[keyof Q] &
  string;

/** A field with one of these values. */
type ChoiceOf<T, R> = Omit<ChoiceField, "initial"> & {
  readonly options: readonly (readonly [value: T & string, label: string])[];
  readonly record: R;
};

/** A rule that a field says of itself. */
type RuleOf<P> = Pick<P, Extract<keyof P, "onlyFor">>;

/** Fields for options of a command, which are also fields of a record. Kind, default, choices and what they
 * mean are the program's, and so is the label where the page has no other. */
export function fieldsOf<Q>(known: OptionTable) {
  const number = (record: string, page: Partial<NumberField>) => {
    const option = known[record] ?? {};
    const whole = page.whole ?? option.kind === "integer";
    const ends = { least: whole ? 1 : 0, most: 1e6 };
    const { help, usual } = splitDefault(option.help ?? "");
    // an empty input leaves the default to the program
    const sentences =
      typeof option.default !== "number" && usual ? [help, `Default: ${usual}`] : [help];
    const hint = help === "" ? {} : { hint: sentences.map((text) => `${text}.`).join(" ") };
    return { kind: "number", label: labelOf(record), whole, ...ends, ...hint, ...page } as const;
  };
  const choice = (record: string, page: Partial<ChoiceField>) => {
    const { choices = [] } = known[record] ?? {};
    const options = choices.map(({ name }) => [name, labelOf(name)] as const);
    const explained = choices.filter(({ help }) => help !== "");
    const says = Object.fromEntries(explained.map(({ name, help }) => [name, `${help}.`]));
    return { kind: "choice", label: labelOf(record), record, options, says, ...page };
  };
  return {
    /** A number that always has a value. */
    number<R extends NamesOf<Q, number>, P extends Partial<NumberField>>(record: R, page: P) {
      const initial = page.initial ?? Number(known[record]?.default);
      const rule: RuleOf<P> = page;
      return { ...number(record, page), record, initial, ...rule };
    },
    /** A number that may be missing. */
    optional<R extends NamesOf<Q, number>>(record: R, page: Omit<Partial<NumberField>, "initial">) {
      return { ...number(record, { label: `${labelOf(record)} (optional)`, ...page }), record };
    },
    /** A choice that always has a value. */
    choice<R extends NamesOf<Q, string>, P extends Partial<ChoiceField>>(record: R, page: P) {
      const initial = page.initial ?? known[record]?.default;
      const field: unknown = { ...choice(record, page), initial };
      return field as ChoiceOf<NonNullable<Q[R]>, R> & { readonly initial: string } & RuleOf<P>;
    },
    /** A choice that may be missing. */
    optionalChoice<R extends NamesOf<Q, string>>(record: R, page: Partial<ChoiceField>) {
      return choice(record, page) as unknown as ChoiceOf<NonNullable<Q[R]>, R>;
    },
  };
}
