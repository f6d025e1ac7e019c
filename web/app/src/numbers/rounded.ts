export type Kind = "upper" | "lower" | "estimate";

/** How a value of a kind is introduced. */
export const SIGN: Record<Kind, string> = { upper: "≤", lower: "≥", estimate: "≈" };

/** A value ≥ 0 with so many decimals, rounded to its safe side: lower bounds down, upper bounds
 * up; very small ones in powers of ten. */
export function rounded(value: number, kind: Kind, decimals = 4): string {
  if (!Number.isFinite(value)) return "–";
  if (value > 0 && value < 0.05) return scientific(value, kind);
  const unit = 10 ** Math.min(decimals, 6);
  const toward = (steps: number): string => {
    if (kind === "upper") return ((Math.ceil(value * unit) + steps) / unit).toFixed(decimals);
    if (kind === "lower") return ((Math.floor(value * unit) - steps) / unit).toFixed(decimals);
    return value.toFixed(decimals);
  };
  const shown = toward(0);
  return isSafe(shown, value, kind) ? shown : toward(1);
}

/** A value ≥ 0 with three decimals and a power of ten, rounded to its safe side. */
export function scientific(value: number, kind: Kind): string {
  const nearest = value.toExponential(3).replace("e+", "e");
  if (isSafe(nearest, value, kind)) return nearest;
  const [mantissa = "0", power = "0"] = nearest.split("e");
  const moved = Number(mantissa) + (kind === "upper" ? 0.001 : -0.001);
  return Number(`${moved.toFixed(3)}e${power}`)
    .toExponential(3)
    .replace("e+", "e");
}

function isSafe(shown: string, value: number, kind: Kind): boolean {
  if (kind === "upper") return Number(shown) >= value;
  return kind === "estimate" || Number(shown) <= value;
}

/** 1234567 as 1,234,567. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** So many of a thing: 1 run, 2,000 runs. */
export function count(value: number, thing: string): string {
  return `${grouped(value)} ${thing}${value === 1 ? "" : "s"}`;
}

/** A count in few characters: 1,000; 10⁶; 3·10⁷. */
export function counted(value: number): string {
  if (value < 100_000) return grouped(value);
  const power = Math.floor(Math.log10(value) + 1e-12);
  const mantissa = Number((value / 10 ** power).toPrecision(2));
  return mantissa === 1 ? `10${superscript(power)}` : `${mantissa}·10${superscript(power)}`;
}

export function superscript(power: number): string {
  return String(power)
    .replace("-", "⁻")
    .replace(/[0-9]/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(digit)));
}

/** How many times one is the other, for "at least": nothing where so few digits show no more. */
export function timesMore(value: number, than: number): string | undefined {
  if (!(than > 0 && value > than)) return undefined;
  const [coarse, fine] = [1, 2].map((decimals) => rounded(value / than, "lower", decimals));
  if (Number(coarse) >= 1.1) return coarse;
  return Number(fine) > 1 ? fine : undefined;
}

/** A confidence: 1 − 0.05 as 95 %. */
export function confidence(significance: number): string {
  return `${Number((100 * (1 - significance)).toPrecision(10))} %`;
}
