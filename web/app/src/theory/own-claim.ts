import type { Accounted, BoundSetting, Conclusion } from "@dpscope/wasm/calculators";
import type { Outcome } from "../../../protocol/protocol";
import {
  epsilonsOf,
  type LineName,
  type LineResult,
  type Lines,
  linesOf,
  linesThatAre,
} from "../numbers/lines";
import type { Sampler } from "../state/fields";
import type { AccountingApi } from "../workers/accounting";
import type { Ask } from "../workers/lane";
import type { TheoryApi } from "../workers/theory";
import { trainingIn } from "./setting";

const OF_SUBSETS = linesThatAre("subsets");
const DRAWN = linesThatAre("draws");

/** A training of one epoch, and what is claimed of it. */
export interface Claimed {
  sampler: Sampler;
  setting: BoundSetting;
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

/** Bounds of uniform subsets. */
export async function subsetLines(
  ask: Ask<AccountingApi>,
  { sampler, setting, delta }: Claimed,
): Promise<Lines> {
  const lines: Lines = {};
  for (const name of linesOf(sampler).filter((name) => OF_SUBSETS.includes(name))) {
    lines[name] = lineOf(await ask("subset_bound", name, setting, { delta }));
  }
  return lines;
}

/** What is proven of a claim about one epoch, with bounds of uniform subsets among `known`. */
export async function ownClaim(
  ask: Ask<TheoryApi>,
  { sampler, setting, delta, significance, claim }: Claimed,
  known: Lines,
): Promise<Conclusion["claim"]> {
  const lines: Lines = { ...known };
  for (const name of linesOf(sampler).filter(isProven)) {
    lines[name] ??= lineOf(await ask("bound", name, trainingIn(setting), { delta }));
  }
  const outcome = await ask("conclusion", sampler, epsilonsOf(lines), significance, claim);
  return "value" in outcome ? outcome.value.claim : undefined;
}

function isProven(name: LineName): boolean {
  return !DRAWN.includes(name);
}
