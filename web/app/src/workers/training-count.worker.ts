/** Trains models in both worlds, on the CPU or on a GPU. */

import init, {
  DataFiles,
  GpuTrainingCounter,
  TrainingCounter,
  type TrainingQuestion,
  training_overview,
} from "@dpscope/wasm/training";
import { serve } from "../../../protocol/protocol";
import type { SentFiles } from "./sent-files";
import { Trainer } from "./trainer";

const trainer = new Trainer(DataFiles, {
  cpu: TrainingCounter.open,
  gpu: GpuTrainingCounter.open,
});

serve(init(), {
  ...trainer.api,
  /** One run of both worlds. */
  watch: (run: number) =>
    [trainer.cpu.watch("target", run), trainer.cpu.watch("zero-out", run)] as const,
  overview: (asked: TrainingQuestion, files?: SentFiles) =>
    training_overview(asked, trainer.received(files)),
});
