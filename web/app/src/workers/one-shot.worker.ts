/** Simulates noisy sums of canaries. */

import init, { type NoisySumSimulation, NoisySums } from "@dpscope/wasm/one_shot";
import { serve } from "../../../protocol/protocol";

let known = "";
let sums: NoisySums | undefined;

/** The sums of a mechanism, with the bands that they have solved so far. */
function sumsOf(asked: NoisySumSimulation): NoisySums {
  const key = JSON.stringify(asked);
  if (sums === undefined || key !== known) {
    const next = new NoisySums(asked);
    sums?.free();
    [sums, known] = [next, key];
  }
  return sums;
}

const api = {
  simulated: (asked: NoisySumSimulation) => sumsOf(asked).simulated(),
  runs: (asked: NoisySumSimulation, first: number, runs: number) => sumsOf(asked).runs(first, runs),
};
export type OneShotApi = typeof api;

serve(init(), api);
