import type { Conclusion } from "@dpscope/wasm/calculators";
import stored from "../stored.json";
import type { Sweep } from "../theory/sweep";
import type { Lines } from "./lines";

/** The default training, computed in advance and painted first. A test recomputes it. */
export function storedLines(): Lines {
  return stored.lines as Lines;
}

export function storedConclusion(): Conclusion {
  return stored.conclusion as Conclusion;
}

export function storedSweep(): Sweep {
  return stored.sweep as Sweep;
}

export const storedVersion: string = stored.version;
