/** Executes federated trainings, on the CPU or on a GPU. */

import init, {
  DataFiles,
  FederatedCounter,
  type FederatedTrainingQuestion,
  federated_training_overview,
  GpuFederatedCounter,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import type { SentFiles } from "./sent-files";
import { Trainer } from "./trainer";

const trainer = new Trainer(DataFiles, {
  cpu: FederatedCounter.open,
  gpu: GpuFederatedCounter.open,
});

serve(init(), {
  ...trainer.api,
  watch: (training: number) => trainer.cpu.watch(training),
  overview: (asked: FederatedTrainingQuestion, files?: SentFiles) =>
    federated_training_overview(asked, trainer.received(files)),
});
