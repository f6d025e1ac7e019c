/** Moves canaries along metagradients, step by step. */

import init, {
  CanaryOptimiser,
  type CanaryOptimizationQuestion,
  DataFiles,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { received, type SentFiles } from "./sent-files";

/** Canaries that are drawn. */
const SHOWN = 12;

let optimiser: CanaryOptimiser | undefined;

function opened(): CanaryOptimiser {
  if (optimiser === undefined) throw new Error("no canaries are open");
  return optimiser;
}

const api = {
  /** Anew, or from a saved state of the same question. */
  open: (asked: CanaryOptimizationQuestion, files?: SentFiles, saved?: Uint8Array) => {
    optimiser?.free();
    optimiser = CanaryOptimiser.open(asked, received(DataFiles, files), saved);
    const { features, range } = optimiser;
    return { features, range, shown: optimiser.shown(SHOWN) };
  },
  step: () => ({ step: opened().step(), shown: opened().shown(SHOWN) }),
  result: () => {
    const { canaries, labels } = opened();
    return { values: canaries, labels, file: opened().file() };
  },
  to_bytes: () => opened().to_bytes(),
};
export type OptimiserApi = typeof api;

serve(init(), api);
