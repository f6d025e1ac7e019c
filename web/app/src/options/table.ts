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
export type Known = Readonly<Record<string, Option>>;

/** `set_size` and `add-remove` for a reader: “Set size” and “Add or remove”. */
export function labelOf(name: string): string {
  const words = name.replace("add-remove", "add or remove").replace(/[-_]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const DEFAULT = /\s*\[default: (.*)\]$/;

/** Help of an option without its default, and the default in the words of the program. */
export function apart(help: string): { help: string; usual: string | undefined } {
  return { help: help.replace(DEFAULT, ""), usual: DEFAULT.exec(help)?.[1] };
}

/** Names of the fields of a record that have values of a type. */
type NamesOf<Q, V> = { [R in keyof Q]-?: NonNullable<Q[R]> extends V ? R : never }[keyof Q] &
  string;

/** A field with one of these values. */
type ChoiceOf<T, R> = Omit<ChoiceField, "initial"> & {
  readonly options: readonly (readonly [value: T & string, label: string])[];
  readonly record: R;
};

/** Fields for options of a command, which are also fields of a record. Kind, default, choices and what they
 * mean are the program's, and so is the label where the page has no other. */
export function fieldsOf<Q>(known: Known) {
  const number = (record: string, page: Partial<NumberField>) => {
    const option = known[record] ?? {};
    const whole = page.whole ?? option.kind === "integer";
    const ends = { least: whole ? 1 : 0, most: 1e6 };
    const { help, usual } = apart(option.help ?? "");
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
    number<R extends NamesOf<Q, number>>(record: R, page: Partial<NumberField>) {
      const initial = page.initial ?? Number(known[record]?.default);
      return { ...number(record, page), record, initial };
    },
    /** A number that may be missing. */
    optional<R extends NamesOf<Q, number>>(record: R, page: Omit<Partial<NumberField>, "initial">) {
      return { ...number(record, { label: `${labelOf(record)} (optional)`, ...page }), record };
    },
    /** A choice that always has a value. */
    choice<R extends NamesOf<Q, string>>(record: R, page: Partial<ChoiceField>) {
      const initial = page.initial ?? known[record]?.default;
      const field: unknown = { ...choice(record, page), initial };
      return field as ChoiceOf<NonNullable<Q[R]>, R> & { readonly initial: string };
    },
    /** A choice that may be missing. */
    optionalChoice<R extends NamesOf<Q, string>>(record: R, page: Partial<ChoiceField>) {
      return choice(record, page) as unknown as ChoiceOf<NonNullable<Q[R]>, R>;
    },
  };
}
