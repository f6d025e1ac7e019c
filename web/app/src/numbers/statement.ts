import type { Accounted } from "@dpscope/wasm/calculators";
import { confidence, rounded } from "../../../numbers/rounded";
import type { Sampler } from "../state/fields";
import { SAMPLER } from "../state/samplers";
import { timesMore } from "./counts";
import { accountedOf, type LineName, type Lines, linesOf, only } from "./lines";

/** The conclusion of the table. */
export interface Statement {
  claimed?: Accounted;
  /** The largest lower bound of the chosen sampler. */
  least?: Accounted;
  leastName?: LineName;
  /** The upper bound for the chosen sampler. */
  most?: Accounted;
  mostName?: LineName;
  /** How many times the claim is exceeded, rounded down. */
  factor?: string;
  sentence: string;
}

const LOWER: readonly LineName[] = ["shuffle-max-slice", "shuffle-sum", "persistent-shuffle"];

export function statement(sampler: Sampler, all: Lines): Statement {
  const lines = only(all, linesOf(sampler));
  const claimed = accountedOf(lines, "poisson");
  const [leastName, least] = largestLower(lines, claimed);
  const mostName: LineName = sampler === "balls-in-bins" ? "balls-in-bins" : "deterministic";
  const most = accountedOf(lines, mostName);
  const parts = {
    ...(claimed === undefined ? {} : { claimed }),
    ...(least === undefined ? {} : { least, leastName }),
    ...(most === undefined || sampler === "poisson" ? {} : { most, mostName }),
  };
  if (claimed === undefined) {
    return {
      ...parts,
      sentence: "Poisson accounting has no value here; the table gives the reason.",
    };
  }
  const factor = timesMore(least?.epsilon ?? 0, claimed.epsilon);
  const withFactor = factor === undefined ? parts : { ...parts, factor };
  return { ...withFactor, sentence: sentence(sampler, withFactor) };
}

/** The line of the one number that is copied. */
export function mainLine({ least, leastName, most, mostName }: Statement): LineName {
  if (least !== undefined && leastName !== undefined) return leastName;
  return most !== undefined && mostName !== undefined ? mostName : "poisson";
}

/** A simulated bound replaces a proven one only where it alone exceeds the claim. */
function largestLower(lines: Lines, claimed: Accounted | undefined): [LineName?, Accounted?] {
  let best: [LineName?, Accounted?] = [];
  for (const name of LOWER) {
    const value = accountedOf(lines, name);
    if (value !== undefined && value.epsilon > (best[1]?.epsilon ?? -1)) best = [name, value];
  }
  const drawn = accountedOf(lines, "pair-lower");
  const limit = claimed?.epsilon ?? Infinity;
  if (drawn !== undefined && drawn.epsilon > limit && (best[1]?.epsilon ?? 0) <= limit) {
    return ["pair-lower", drawn];
  }
  return best;
}

function sentence(sampler: Sampler, parts: Omit<Statement, "sentence">): string {
  const { claimed, least, most, factor } = parts;
  if (claimed === undefined) return "";
  const { batches } = SAMPLER[sampler];
  const claim = `Poisson accounting claims ε = ${rounded(claimed.epsilon, "upper", 2)}`;
  if (sampler === "poisson") {
    return `${claim}. These batches are Poisson sampled, so the claim is proven.`;
  }
  const atMost =
    most === undefined
      ? ""
      : `no dataset leaks more than ${rounded(most.epsilon, "upper", 2)} (proven)`;
  const holds = most !== undefined && most.epsilon <= claimed.epsilon;
  if (least === undefined) {
    const end = holds ? "So the claim holds." : "Run an audit for a lower bound.";
    if (atMost === "") return `${claim}. No bound for ${batches} is available here.`;
    return `${claim}; with ${batches}, ${atMost}. ${end}`;
  }
  const sure =
    least.significance === undefined ? "proven" : `${confidence(least.significance)} confidence`;
  const atLeast = `with ${batches}, the worst-case pair leaks at least ${rounded(least.epsilon, "lower", 2)} (${sure})`;
  const all = `${claim}; ${atLeast}${atMost === "" ? "" : `, and ${atMost}`}.`;
  if (factor !== undefined) return `${all} The leakage is at least ${factor} times the claim.`;
  if (least.epsilon > claimed.epsilon) return `${all} The leakage exceeds the claim.`;
  if (holds) return `${all} So the claim holds.`;
  return `${all} The claim is neither refuted nor confirmed.`;
}
