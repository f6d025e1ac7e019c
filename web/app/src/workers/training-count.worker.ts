/** Trains models in both worlds, on the CPU or on a GPU. */

import init, {
  Command,
  GpuTrainingCounter,
  TrainingCounter,
  training_overview,
} from "@dpscope/wasm/training";
import { serve } from "../../../protocol/protocol";
import { received, type SentCommand } from "./sent-files";
import { Trainer } from "./trainer";

const trainer = new Trainer(Command, {
  cpu: TrainingCounter.open,
  gpu: GpuTrainingCounter.open,
});

serve(init(), {
  ...trainer.api,
  /** One run of both worlds. */
  watch: (run: number) =>
    [trainer.cpu.watch("target", run), trainer.cpu.watch("zero-out", run)] as const,
  overview: (command: SentCommand) => training_overview(received(Command, command)),
});
