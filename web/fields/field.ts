/** Inputs of the app, its links and the calculators: what one entry of their tables says. */

interface Described {
  readonly label: string;
  readonly symbol?: string;
  readonly help?: string;
  /** Shown below the input. */
  readonly hint?: string;
  /** The option that it stands for, and its field in records. */
  readonly record?: string;
  /** A setting and its values for which the input has an effect; any value if none is listed. */
  readonly onlyFor?: readonly [setting: string, ...values: (Value | undefined)[]];
}

/** A number in [least, most]; one without an initial value is optional. */
export interface NumberField extends Described {
  readonly kind: "number";
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
  readonly initial?: number;
  /** Ends that differ from the domain's; logarithmic by default. */
  readonly slider?: { readonly least?: number; readonly most?: number; readonly isLinear?: true };
}

/** One of several options, each with a label. */
export interface ChoiceField extends Described {
  readonly kind: "choice";
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly initial?: string;
  /** What each value means. */
  readonly says?: Readonly<Record<string, string>>;
}

/** A field to choose one of several values, each with its label. */
export function choiceOf<T extends string>(
  label: string,
  initial: NoInfer<T>,
  labels: Readonly<Record<T, string>>,
) {
  const options = Object.entries(labels) as [T, string][];
  return { kind: "choice", label, options, initial } as const;
}

/** A whole number below 2^53 as decimal digits. */
export interface SeedField extends Described {
  readonly kind: "seed";
  readonly initial: string;
}

/** Some of several names, as text with commas between them, in the order of the options. */
export interface SetField extends Described {
  readonly kind: "set";
  readonly options: readonly string[];
  readonly initial: string;
}

/** Some text on one line; one without an initial value is optional. */
export interface TextField extends Described {
  readonly kind: "text";
  /** Characters. */
  readonly most: number;
  readonly initial?: string;
}

export type Field = TextField | NumberField | ChoiceField | SeedField | SetField;
export type Value = number | string;

type Required<F> = F extends { kind: "number" }
  ? number
  : F extends { options: readonly (readonly [infer T, string])[] }
    ? T
    : string;
/** Values of a field. */
export type ValueOf<F> = F extends { initial: Value } ? Required<F> : Required<F> | undefined;

/** Whether an input has an effect with these settings. */
export function hasEffect({ onlyFor }: Field, settings: object): boolean {
  if (onlyFor === undefined) return true;
  const [setting, ...values] = onlyFor;
  const value = (settings as Readonly<Record<string, Value | undefined>>)[setting];
  return values.length === 0 ? value !== undefined : values.includes(value);
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const LONGEST = 32;

/** NaN for text that is no decimal number. */
export function numberOf(text: string): number {
  const trimmed = text.trim();
  return trimmed.length <= LONGEST && DECIMAL.test(trimmed) ? Number(trimmed) : Number.NaN;
}

/** Typed text with a decimal point and without commas between thousands: one comma is between thousands in
 * a whole number and a decimal comma elsewhere. Links and attributes have decimal points only. */
export function typedText(field: Field, typed: string): string {
  const text = typed.trim();
  const isGrouped = /^[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?$/.test(text);
  const isWhole = field.kind === "number" && field.whole === true;
  if (field.kind === "text") return text;
  if (isGrouped && (isWhole || /,.*[,.]/.test(text))) return text.replaceAll(",", "");
  const isDecimal = field.kind === "number" && (!isWhole || /e/i.test(text));
  return isDecimal && /^[^,.]*,[^,.]*$/.test(text) ? text.replace(",", ".") : text;
}

/** The keypad of a phone: powers of ten need letters, and a sign is on no keypad for numbers. */
export function keypadOf(field: Field): "numeric" | "decimal" | "text" {
  if (field.kind !== "number") return field.kind === "seed" ? "numeric" : "text";
  const { least, most, whole = false } = field;
  if (most >= 1e5 || (least !== 0 && least < 1e-3)) return "text";
  return whole ? "numeric" : "decimal";
}

/** The value that a text stands for; `undefined` for any text outside the domain. */
export function parse(field: Field, text: string): Value | undefined {
  if (field.kind === "choice") return field.options.find(([value]) => value === text)?.[0];
  if (field.kind === "set") return setOf(field, text);
  if (field.kind === "text") {
    return text.length <= field.most && /^\P{C}+$/u.test(text) ? text : undefined;
  }
  if (field.kind === "seed") {
    const seed = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(seed) ? String(seed) : undefined;
  }
  const value = numberOf(text);
  const { least, most, whole = false } = field;
  return value >= least && value <= most && (!whole || Number.isInteger(value)) ? value : undefined;
}

/** Each name once, in the order of the options; none if one is unknown. */
function setOf({ options }: SetField, text: string): string | undefined {
  const names = text.split(",").filter((name) => name !== "");
  if (names.length > options.length || !names.every((name) => options.includes(name)))
    return undefined;
  return options.filter((option) => names.includes(option)).join(",");
}

/** The domain of a field, for messages: `a number from 0.2 to 20`. */
export function domainOf(field: Field): string {
  if (field.kind === "choice") return `one of ${field.options.map(([value]) => value).join(", ")}`;
  if (field.kind === "seed") return "a whole number below 2^53";
  if (field.kind === "text") return `text on one line, of at most ${field.most} characters`;
  if (field.kind === "set") return `some of ${field.options.join(", ")}, with commas between them`;
  const ends = `from ${numberText(field.least)} to ${numberText(field.most)}`;
  return `${field.whole === true ? "a whole number" : "a number"} ${ends}`;
}

/** The shortest text that parses to the number, as links and the command line have it: powers of ten
 * where plain digits are hard to read. */
export function numberText(value: Value): string {
  if (typeof value === "string") return value;
  const plain = String(value);
  const power = value.toExponential().replace("e+", "e");
  const isHard = Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5;
  return isHard && power.length < plain.length - 1 ? power : plain.replace("e+", "e");
}

/** The label of a choice's value. */
export function optionLabel({ options }: ChoiceField, value: Value): string {
  return options.find(([option]) => option === value)?.[1] ?? String(value);
}
