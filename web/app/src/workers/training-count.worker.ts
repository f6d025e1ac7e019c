/** Trains models in both worlds, on the CPU or on a GPU. */

import init, {
  DataFiles,
  GpuTrainingCounter,
  TrainingCounter,
  type TrainingQuestion,
  training_overview,
} from "@dpscope/wasm/training";
import { serve } from "../../../protocol/protocol";
import { received, type SentFiles } from "./sent-files";

let layout = new Uint8Array();
let files: SentFiles | undefined;
let cpu: TrainingCounter | undefined;
let gpu: GpuTrainingCounter | undefined;
/** Ends after the last call of the GPU, which takes one at a time. */
let last: Promise<unknown> = Promise.resolve();

function counter(): TrainingCounter {
  cpu ??= TrainingCounter.open(layout, received(DataFiles, files));
  return cpu;
}

const api = {
  /** What all runs have in common. */
  prepare: (shared: Uint8Array<ArrayBuffer>, data?: SentFiles) => {
    [layout, files] = [shared, data];
  },
  open_gpu: async (_mode: "exact" | "fast", software: boolean) => {
    gpu = await GpuTrainingCounter.open(layout, received(DataFiles, files), software);
    return gpu.name;
  },
  /** For tests: loses the GPU for good. */
  lose_gpu: () => {
    gpu?.forbid_reopening();
    gpu?.lose_device();
  },
  count: (first: number, end: number): Uint8Array | Promise<Uint8Array> => {
    const device = gpu;
    if (device === undefined) return counter().count(first, end);
    const counted = last.then(() => device.count(first, end));
    last = counted.catch(() => undefined);
    return counted;
  },
  /** One run of both worlds. */
  watch: (run: number) =>
    [counter().watch("target", run), counter().watch("zero-out", run)] as const,
  overview: (asked: TrainingQuestion, data?: SentFiles) =>
    training_overview(asked, received(DataFiles, data)),
};
export type TrainingCountApi = typeof api;

serve(init(), api);
