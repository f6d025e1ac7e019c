/** Trains models with many canaries, on the CPU or on a GPU. */

import init, {
  CanaryCounter,
  type CanaryTrainingQuestion,
  canary_training_overview,
  DataFiles,
  GpuCanaryCounter,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import type { SentFiles } from "./sent-files";
import { Trainer } from "./trainer";

const trainer = new Trainer(DataFiles, {
  cpu: CanaryCounter.open,
  gpu: GpuCanaryCounter.open,
});

serve(init(), {
  ...trainer.api,
  watch: (model: number) => trainer.cpu.watch(model),
  overview: (asked: CanaryTrainingQuestion, files?: SentFiles) =>
    canary_training_overview(asked, trainer.received(files)),
});
