/** What a calculator takes: the names, ranges and words of its inputs, and how text becomes values. */

/** A number within [least, most]. */
export interface NumberField {
  readonly kind: "number";
  /** Of the attribute; the property is its camel case, the setting its snake case. */
  readonly name: string;
  readonly label: string;
  readonly symbol?: string;
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
  readonly initial: number;
  /** Ends of a slider on a logarithmic scale, where there is one. */
  readonly slider?: readonly [number, number];
  readonly help: string;
}

/** One of some words. */
export interface ChoiceField {
  readonly kind: "choice";
  readonly name: string;
  readonly label: string;
  readonly symbol?: undefined;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly initial: string;
  readonly help: string;
}

export type Field = NumberField | ChoiceField;
export type Value = number | string;

/** A value within its field's domain; where it is not what was given, the problem says why. */
export interface Read {
  readonly value: Value;
  readonly problem?: string;
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const LONGEST = 32;

/** Reads what an attribute, a property or a person gave; `kept` stands in for what has no meaning. */
export function read(field: Field, given: unknown, kept: Value = field.initial): Read {
  if (given === null || given === undefined) return { value: field.initial };
  return field.kind === "choice" ? readChoice(field, given, kept) : readNumber(field, given, kept);
}

function readChoice({ name, options }: ChoiceField, given: unknown, kept: Value): Read {
  const found = options.find(([value]) => value === given);
  if (found) return { value: found[0] };
  const allowed = options.map(([value]) => value).join(", ");
  return { value: kept, problem: `${name} is ${quoted(given)}; it must be one of ${allowed}.` };
}

function readNumber(field: NumberField, given: unknown, kept: Value): Read {
  const { name, least, most, whole = false } = field;
  const value = numberOf(given);
  const nearest = nearestTo(value, field, kept);
  if (nearest === value) return { value };
  const domain = `${whole ? "a whole number" : "a number"} from ${numberText(least)} to ${numberText(most)}`;
  return { value: nearest, problem: `${name} is ${quoted(given)}; it must be ${domain}.` };
}

function nearestTo(value: number, { least, most, whole = false }: NumberField, kept: Value): Value {
  if (Number.isNaN(value)) return kept;
  const clamped = Math.min(most, Math.max(least, value));
  return whole ? Math.round(clamped) : clamped;
}

function numberOf(given: unknown): number {
  if (typeof given === "number") return given;
  if (typeof given !== "string") return Number.NaN;
  const text = given.trim();
  return text.length <= LONGEST && DECIMAL.test(text) ? Number(text) : Number.NaN;
}

function quoted(given: unknown): string {
  const text =
    typeof given === "string" ? given : typeof given === "number" ? String(given) : typeof given;
  return `“${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}”`;
}

/** A value as the command line takes it: powers of ten where there would be many zeros. */
export function numberText(value: Value): string {
  if (typeof value === "string") return value;
  const size = Math.abs(value);
  const long = size !== 0 && (size < 1e-3 || size >= 1e7);
  return long ? value.toExponential().replace("e+", "e") : String(value);
}

/** `noise-multiplier` → `noiseMultiplier`. */
export function propertyOf(field: Field): string {
  return field.name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `noise-multiplier` → `noise_multiplier`, as in the command line's JSON. */
export function settingOf(field: Field): string {
  return field.name.replaceAll("-", "_");
}

export const noiseMultiplier: NumberField = {
  kind: "number",
  name: "noise-multiplier",
  label: "Noise multiplier",
  symbol: "σ",
  least: 0.05,
  most: 1000,
  initial: 1,
  help: "Noise standard deviation divided by the clip norm",
};

export const steps: NumberField = {
  kind: "number",
  name: "steps",
  label: "Steps an epoch",
  symbol: "T",
  least: 1,
  most: 1e6,
  whole: true,
  initial: 100,
  help: "Batches an epoch",
};

export const epochs: NumberField = {
  kind: "number",
  name: "epochs",
  label: "Epochs",
  symbol: "E",
  least: 1,
  most: 1e5,
  whole: true,
  initial: 1,
  help: "Passes over the data",
};

export const delta: NumberField = {
  kind: "number",
  name: "delta",
  label: "Delta",
  symbol: "δ",
  least: 1e-15,
  most: 0.5,
  initial: 1e-5,
  help: "The δ at which ε holds",
};

export const significance: NumberField = {
  kind: "number",
  name: "significance",
  label: "Significance",
  least: 1e-9,
  most: 0.5,
  initial: 0.05,
  help: "Chance that the bound is wrong: 0.05 is 95 % confidence",
};

export const epsilon: NumberField = {
  kind: "number",
  name: "epsilon",
  label: "Wanted epsilon",
  symbol: "ε",
  least: 1e-3,
  most: 100,
  initial: 4,
  help: "The ε of the statement",
};
