/** How one field of the state is written in a link. Parsing is total: what has no meaning is
 * `undefined`, never an exception. */
export interface Codec<T> {
  readonly initial: T;
  /** What is allowed, for a message. */
  readonly allowed: string;
  parse(text: string): T | undefined;
  format(value: T): string;
}

/** A codec of numbers that also knows its ends, for a slider. */
export interface NumberCodec extends Codec<number> {
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

const NUMBER = /^[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$/i;

function within(least: number, most: number, whole: boolean, text: string): number | undefined {
  if (text.length > 24 || !NUMBER.test(text)) return undefined;
  const value = Number(text);
  if (whole && !Number.isInteger(value)) return undefined;
  return value >= least && value <= most ? value : undefined;
}

/** A number in [least, most]. */
export function real(least: number, most: number, initial: number): NumberCodec {
  return {
    initial,
    least,
    most,
    whole: false,
    allowed: `a number from ${short(least)} to ${short(most)}`,
    parse: (text) => within(least, most, false, text),
    format: short,
  };
}

/** A whole number in [least, most]. */
export function whole(least: number, most: number, initial: number): NumberCodec {
  return {
    initial,
    least,
    most,
    whole: true,
    allowed: `a whole number from ${short(least)} to ${short(most)}`,
    parse: (text) => within(least, most, true, text),
    format: short,
  };
}

/** One of a few words. */
export function choice<const T extends string>(values: readonly T[], initial: T): Codec<T> {
  return {
    initial,
    allowed: `one of ${values.join(", ")}`,
    parse: (text) => values.find((value) => value === text),
    format: (value) => value,
  };
}

/** May be left out. */
export function optional<T>(inner: Codec<T>): Codec<T | undefined> {
  return {
    initial: undefined,
    allowed: inner.allowed,
    parse: (text) => inner.parse(text),
    format: (value) => (value === undefined ? "" : inner.format(value)),
  };
}

/** A seed: decimal digits, below 2⁵³. */
export const seedCodec: Codec<string> = {
  initial: "1",
  allowed: "a whole number below 2^53",
  parse: (text) => {
    if (!/^[0-9]{1,16}$/.test(text)) return undefined;
    const value = Number(text);
    return Number.isSafeInteger(value) ? String(value) : undefined;
  },
  format: (value) => value,
};

/** The shortest text that gives the number back, in powers of ten where plain digits are hard to
 * read. */
export function short(value: number): string {
  const plain = String(value);
  const power = value.toExponential().replace("e+", "e");
  const isHard = value < 1e-3 || value >= 1e5;
  return isHard && power.length < plain.length - 1 ? power : plain.replace("e+", "e");
}
