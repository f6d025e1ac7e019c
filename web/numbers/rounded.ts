/** Numbers for display, with bounds rounded to their safe side. */

/** The side of the true value; an estimate is rounded to nearest. */
export type Kind = "upper" | "lower" | "estimate";

/** The relation sign of each kind. */
export const SIGN = { upper: "≤", lower: "≥", estimate: "≈" } as const;

/** A value ≥ 0 with `decimals`, upper bounds up and lower bounds down; below 0.05 in powers of ten. */
export function rounded(value: number, kind: Kind, decimals = 4): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  if (value > 0 && value < 0.05) return scientific(value, kind);
  const nearest = value.toFixed(decimals);
  if (isSafe(nearest, value, kind)) return nearest;
  return (Number(nearest) + outward(10 ** -decimals, kind)).toFixed(decimals);
}

/** A value ≥ 0 with three decimals and a power of ten, rounded to its safe side. */
export function scientific(value: number, kind: Kind): string {
  const powered = (number: number): string => number.toExponential(3).replace("e+", "e");
  const nearest = powered(value);
  if (isSafe(nearest, value, kind)) return nearest;
  const [mantissa = "0", power = "0"] = nearest.split("e");
  const moved = Number(mantissa) + outward(0.001, kind);
  return powered(Number(`${moved.toFixed(3)}e${power}`));
}

function isSafe(shown: string, value: number, kind: Kind): boolean {
  if (kind === "upper") return Number(shown) >= value;
  return kind === "estimate" || Number(shown) <= value;
}

function outward(step: number, kind: Kind): number {
  return kind === "upper" ? step : -step;
}

/** 1234567 as 1,234,567. */
export function grouped(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A confidence, 1 − 0.05 as 95 %: never more than it is, with at most six decimals. */
export function confidence(significance: number): string {
  const nearest = Math.round(significance * 1e8);
  const risk = nearest / 1e8 < significance ? nearest + 1 : nearest;
  const shown = `${(1e8 - risk) / 1e6} %`;
  return nearest === 0 ? `more than ${shown}` : shown;
}
