import type { Accounted } from "@dpscope/wasm/calculators";
import { confidence } from "../../../numbers/rounded";
import { directions, scopes } from "../../../numbers/words.json";

/** What the value is, in two or three words for a badge. */
export function standing(value: Pick<Accounted, "kind" | "significance" | "scope">): string {
  if (value.kind === "estimate") return "estimate";
  const side = value.kind === "upper" ? "upper bound" : "lower bound";
  if (value.significance !== undefined) return `${side}, ${confidence(value.significance)}`;
  return `${side}, proven`;
}

export function scopeInWords({ scope, kind }: Accounted): string {
  return scopes[scope][kind];
}

export function directionInWords(direction: Accounted["direction"]): string {
  return directions[direction];
}

/** A message as a sentence; names and symbols keep their case. */
export function capitalised(text: string): string {
  return /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
