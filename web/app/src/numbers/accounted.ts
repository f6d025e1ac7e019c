import type { Accounted } from "@dpscope/wasm/calculators";
import { confidence } from "../../../numbers/rounded";

/** What the value is, in two or three words for a badge. */
export function standing(value: Pick<Accounted, "kind" | "significance" | "scope">): string {
  if (value.kind === "estimate") return "estimate";
  const side = value.kind === "upper" ? "upper bound" : "lower bound";
  if (value.significance !== undefined) return `${side}, ${confidence(value.significance)}`;
  return `${side}, proven`;
}

export function scopeInWords(value: Accounted): string {
  if (value.scope === "mechanism") return "mechanism: every pair of neighbouring data sets";
  return value.kind === "lower"
    ? "pair: a lower bound on one pair is also one on the mechanism"
    : "pair: an upper bound on one pair does not bound the mechanism";
}

export function directionInWords(direction: Accounted["direction"]): string {
  if (direction === "remove") return "remove: with the record against without it";
  if (direction === "add") return "add: without the record against with it";
  return "both: the larger of remove and add";
}

/** A message as a sentence; names and symbols keep their case. */
export function capitalised(text: string): string {
  return /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
