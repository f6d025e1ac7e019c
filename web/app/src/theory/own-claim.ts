import type { Accounted, Conclusion, KnownBound } from "@dpscope/wasm/calculators";
import type { Outcome } from "../../../protocol/protocol";
import { epsilonsOf, type LineName, type LineResult, type Lines, linesOf } from "../numbers/lines";
import type { Sampler } from "../state/fields";
import type { Ask } from "../workers/lane";
import type { TheoryApi } from "../workers/theory";

/** A training, and what is claimed of it. */
export interface Claimed {
  sampler: Sampler;
  noise_multiplier: number;
  steps: number;
  delta: number;
  significance: number;
  claim: number;
}

/** The value of an outcome, or why there is none. */
export function lineOf(outcome: Outcome<Accounted>): LineResult {
  if ("value" in outcome) return outcome;
  const { message, field } = outcome.failure;
  return field === undefined ? { reason: message } : { reason: message, field };
}

/** What is proven of a claim about one epoch. */
export async function ownClaim(
  ask: Ask<TheoryApi>,
  { sampler, noise_multiplier, steps, delta, significance, claim }: Claimed,
): Promise<Conclusion["claim"]> {
  const lines: Lines = {};
  for (const name of linesOf(sampler).filter(isProven)) {
    const training = { noise_multiplier, steps, epochs: 1 };
    lines[name] = lineOf(await ask("bound", name as KnownBound, training, { delta }));
  }
  const outcome = await ask("conclusion", sampler, epsilonsOf(lines), significance, claim);
  return "value" in outcome ? outcome.value.claim : undefined;
}

function isProven(name: LineName): boolean {
  return name !== "pair-lower" && name !== "pair-estimate";
}
