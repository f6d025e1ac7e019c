/** Counts ranges of observations, on the CPU or on a GPU. */

import init, { count, GpuCounter } from "@dpscope/wasm/audits";
import { serve } from "../../../protocol/protocol";

let layout: Uint8Array | undefined;
let gpu: GpuCounter | undefined;

serve(init(), {
  /** What all ranges have in common. */
  prepare: (shared: Uint8Array) => {
    layout = shared;
  },
  open_gpu: async (mode: "exact" | "fast", software: boolean) => {
    gpu = await GpuCounter.open(mode, software);
    return gpu.name;
  },
  /** For tests: loses the GPU for good. */
  lose_gpu: () => {
    gpu?.forbid_reopening();
    gpu?.lose_device();
  },
  count: (first: number, end: number) => {
    if (layout === undefined) throw new Error("no layout was passed");
    return gpu === undefined ? count(layout, first, end) : gpu.count(layout, first, end);
  },
});
