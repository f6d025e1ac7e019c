import stored from "../stored.json";
import type { Sweep } from "../theory/sweep";
import type { Lines } from "./lines";

/** The default training, computed beforehand: what is painted first. A test computes it again. */
export function storedLines(): Lines {
  return stored.lines as Lines;
}

export function storedSweep(): Sweep {
  return stored.sweep as Sweep;
}

export const storedVersion: string = stored.version;
