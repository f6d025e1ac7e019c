/** Trains runs of PATE-GAN in both worlds. */

import init, { PateGanCounter } from "@dpscope/wasm/synth";
import { serve } from "../../../protocol/protocol";

let counter: PateGanCounter | undefined;

serve(init(), {
  /** What all runs have in common. */
  prepare: (layout: Uint8Array) => {
    counter = PateGanCounter.open(layout);
  },
  count: (first: number, end: number) => {
    if (counter === undefined) throw new Error("no layout was passed");
    return counter.count(first, end);
  },
});
