/** Attributes, properties and settings of the calculators: their names, and how text becomes values. */

import {
  type ChoiceField,
  domainOf,
  type NumberField,
  numberOf,
  parse,
  type Value,
} from "../../fields/field";
import type { Failure } from "../../protocol/protocol";

/** An input of a calculator always has a value. */
export type Input = (NumberField | ChoiceField) & {
  readonly initial: Value;
};
/** By their setting, as in the command line's JSON: `noise_multiplier`. */
export type Inputs = Readonly<Record<string, Input>>;

/** A value within its field's domain; where it is not what was passed, the problem says why. */
export interface Read {
  readonly value: Value;
  readonly problem?: string;
}

const LONGEST = 32;

/** Reads an attribute, a property or typed text; `before` replaces what has no meaning. */
export function read(field: Input, given: unknown, before: Value = field.initial): Read {
  if (given === null || given === undefined) return { value: field.initial };
  const isText = typeof given === "string" || typeof given === "number";
  const value = isText ? parse(field, String(given)) : undefined;
  if (value !== undefined) return { value };
  const shown = quoted(isText ? String(given) : typeof given);
  return {
    value: (field.kind === "number" ? nearest(field, given) : undefined) ?? before,
    problem: `${field.label} is ${shown}; it must be ${domainOf(field)}.`,
  };
}

/** A failure with the labels of settings in place of their names. */
export function inWords(failure: Failure, fields: Inputs): Failure {
  const message = failure.message.replace(/\b[a-z]+(_[a-z]+)*\b/g, (name) => {
    const isSetting = name.includes("_") || name === failure.field;
    return (isSetting ? fields[name]?.label : undefined) ?? name;
  });
  return { ...failure, message };
}

/** The number of the domain nearest to the value; `undefined` for text that is no number. */
function nearest({ least, most, whole = false }: NumberField, given: unknown): number | undefined {
  const value = typeof given === "string" ? numberOf(given) : given;
  if (typeof value !== "number" || Number.isNaN(value)) return undefined;
  const clamped = Math.min(most, Math.max(least, value));
  return whole ? Math.round(clamped) : clamped;
}

function quoted(text: string): string {
  return `“${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}”`;
}

/** `noise_multiplier` → `noise-multiplier`. */
export function attributeOf(name: string): string {
  return name.replaceAll("_", "-");
}

/** `noise_multiplier` → `noiseMultiplier`. */
export function propertyOf(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
