/** Numbers for people, rounded to their safe side. */

/** Which side of the truth a number is on; a plain one is rounded to nearest. */
export type Side = "upper" | "lower" | "estimate";

const DIGITS = 4;

/** With four decimals, or in powers of ten below 0.05: upper values up, lower values down. */
export function outward(value: number, side: Side, digits = DIGITS): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : String(value);
  if (value > 0 && value < 0.05) return scientific(value, side);
  const nearest = value.toFixed(digits);
  if (isSafe(nearest, value, side)) return nearest;
  const unit = 10 ** -digits;
  return (Number(nearest) + (side === "upper" ? unit : -unit)).toFixed(digits);
}

function scientific(value: number, side: Side): string {
  const nearest = value.toExponential(3);
  if (isSafe(nearest, value, side)) return nearest;
  const [mantissa = "", power = ""] = nearest.split("e");
  const moved = Number(mantissa) + (side === "upper" ? 0.001 : -0.001);
  return Number(`${moved.toFixed(3)}e${power}`).toExponential(3);
}

function isSafe(shown: string, value: number, side: Side): boolean {
  const read = Number(shown);
  return side === "estimate" || (side === "upper" ? read >= value : read <= value);
}

/** `1234567` → `1,234,567`. */
export function grouped(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** 0.05 → `95 %`, without the noise of binary fractions. */
export function confidence(significance: number): string {
  return `${Number((100 * (1 - significance)).toPrecision(12))} %`;
}

/** Words for the methods that the accountants name. */
const METHODS: Readonly<Record<string, string>> = {
  analytic: "closed Gaussian formula",
  "privacy-loss-distribution": "privacy loss distribution",
  "max-slice": "the largest output of each epoch",
  sum: "the sum of the outputs of each epoch",
  "importance-sampling": "importance sampling",
  "plug-in": "the drawn law of one epoch, composed",
};

export function methodText(method: string): string {
  return METHODS[method] ?? method;
}

/** `δ = 1e-5`, which no line break tears apart. */
export function relation(symbol: string, sign: "=" | "≤" | "≥" | "≈", value: string): string {
  return `${symbol}\u00a0${sign}\u00a0${value}`;
}
