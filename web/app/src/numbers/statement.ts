import type { Accounted, Conclusion } from "@dpscope/wasm/calculators";
import { accountedOf, type LineName, type Lines } from "./lines";

/** The conclusion of the table, with the values that it rests on. */
export interface Statement {
  claimed?: Accounted | undefined;
  least?: Accounted | undefined;
  most?: Accounted | undefined;
  leastName: LineName;
  mostName: LineName;
  /** How many times the claim is exceeded, rounded down. */
  factor?: string | undefined;
  sentence: string;
  /** The reader's own claim, and what the values say of it. */
  claim?: Conclusion["claim"];
}

interface Concluded {
  readonly lines: Lines;
  readonly conclusion: Conclusion | undefined;
}

export function statement({ lines, conclusion }: Concluded): Statement {
  const leastName = nameOf(conclusion?.lower) ?? "pair-lower";
  const mostName = nameOf(conclusion?.upper) ?? "deterministic";
  return {
    claimed: accountedOf(lines, "poisson"),
    least: conclusion?.lower && accountedOf(lines, leastName),
    most: conclusion?.upper && accountedOf(lines, mostName),
    leastName,
    mostName,
    factor: conclusion?.factor,
    sentence: conclusion?.sentence ?? "",
    claim: conclusion?.claim,
  };
}

/** The line of the one number that is copied. */
export function mainLine({ least, leastName, most, mostName }: Statement): LineName {
  if (least !== undefined) return leastName;
  return most === undefined ? "poisson" : mostName;
}

/** The table lists both closed forms of a shuffle, not the larger of them. */
function nameOf(bound: Conclusion["lower"]): LineName | undefined {
  return bound === "shuffle-best" ? undefined : bound;
}
