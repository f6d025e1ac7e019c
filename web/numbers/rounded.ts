/** Numbers for display, with bounds rounded to their safe side. */

/** The side of the true value; an estimate is rounded to nearest. */
export type Kind = "upper" | "lower" | "estimate";

/** The relation sign of each kind. */
export const SIGN = { upper: "≤", lower: "≥", estimate: "≈" } as const;

/** A value ≥ 0 with `decimals`, upper bounds up and lower bounds down; below 0.05 in powers of ten.
 * As `number::plain` of the crate `report` writes it: pages paint before they load it. */
export function rounded(value: number, kind: Kind, decimals = 4): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  if (value > 0 && value < 0.05) return scientific(value, kind, Math.max(3, decimals - 1));
  const nearest = value.toFixed(decimals);
  if (isSafe(nearest, value, kind)) return nearest;
  return (Number(nearest) + outward(10 ** -decimals, kind)).toFixed(decimals);
}

/** A value ≥ 0 with some decimals and a power of ten, rounded to its safe side. */
export function scientific(value: number, kind: Kind, decimals = 3): string {
  const powered = (number: number): string => number.toExponential(decimals).replace("e+", "e");
  const nearest = powered(value);
  if (isSafe(nearest, value, kind)) return nearest;
  const [mantissa = "0", power = "0"] = nearest.split("e");
  const moved = Number(mantissa) + outward(10 ** -decimals, kind);
  return powered(Number(`${moved.toFixed(decimals)}e${power}`));
}

const MOST_DECIMALS = 12;

/** The fewest decimals at which a lower bound above an upper one is above it as shown, too. */
export function decimalsOf(
  upper: number | undefined,
  lower: number | undefined,
  least: number,
): number {
  if (upper === undefined || lower === undefined || !(lower > upper)) return least;
  for (let decimals = least; decimals <= MOST_DECIMALS; decimals += 1) {
    const [above, below] = [rounded(lower, "lower", decimals), rounded(upper, "upper", decimals)];
    if (Number(above) > Number(below)) return decimals;
  }
  return least;
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
