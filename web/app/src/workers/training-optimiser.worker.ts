/** Moves canaries along metagradients, step by step. */

import init, { CanaryOptimiser, Command } from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { received, type SentCommand } from "./sent-files";

/** Canaries that are drawn. */
const SHOWN = 12;

let optimiser: CanaryOptimiser | undefined;

function opened(): CanaryOptimiser {
  if (optimiser === undefined) throw new Error("no canaries are open");
  return optimiser;
}

const api = {
  /** Anew, or from a saved state of the same command. */
  open: (command: SentCommand, saved?: Uint8Array) => {
    optimiser?.free();
    optimiser = CanaryOptimiser.open(received(Command, command), saved);
    const { features, range } = optimiser;
    return { features, range, shown: optimiser.shown(SHOWN) };
  },
  step: () => ({ step: opened().step(), shown: opened().shown(SHOWN) }),
  /** The best canaries as a file of the program. */
  file: () => opened().file(),
  to_bytes: () => opened().to_bytes(),
};
export type OptimiserApi = typeof api;

serve(init(), api);
