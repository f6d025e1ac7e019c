/** Executes federated trainings, on the CPU or on a GPU. */

import init, {
  DataFiles,
  FederatedCounter,
  type FederatedTrainingQuestion,
  federated_training_overview,
  GpuFederatedCounter,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { received, type SentFiles } from "./sent-files";

let layout = new Uint8Array();
let files: SentFiles | undefined;
let cpu: FederatedCounter | undefined;
let gpu: GpuFederatedCounter | undefined;
/** Ends after the last call of the GPU, which takes one at a time. */
let last: Promise<unknown> = Promise.resolve();

function counter(): FederatedCounter {
  cpu ??= FederatedCounter.open(layout, received(DataFiles, files));
  return cpu;
}

const api = {
  /** What all trainings have in common. */
  prepare: (shared: Uint8Array<ArrayBuffer>, data?: SentFiles) => {
    [layout, files] = [shared, data];
  },
  open_gpu: async (_mode: "exact" | "fast", software: boolean) => {
    gpu = await GpuFederatedCounter.open(layout, received(DataFiles, files), software);
    return gpu.name;
  },
  /** For tests: loses the GPU for good. */
  lose_gpu: () => gpu?.lose_device(),
  count: (first: number, end: number): Uint8Array | Promise<Uint8Array> => {
    const device = gpu;
    if (device === undefined) return counter().count(first, end);
    const counted = last.then(() => device.count(first, end));
    last = counted.catch(() => undefined);
    return counted;
  },
  watch: (training: number) => counter().watch(training),
  overview: (asked: FederatedTrainingQuestion, data?: SentFiles) =>
    federated_training_overview(asked, received(DataFiles, data)),
};
export type FederatedTrainingCountApi = typeof api;

serve(init(), api);
