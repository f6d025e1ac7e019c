/** Trains models with many canaries, on the CPU or on a GPU. */

import init, {
  CanaryCounter,
  Command,
  canary_training_overview,
  GpuCanaryCounter,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { received, type SentCommand } from "./sent-files";
import { Trainer } from "./trainer";

const trainer = new Trainer(Command, {
  cpu: CanaryCounter.open,
  gpu: GpuCanaryCounter.open,
});

serve(init(), {
  ...trainer.api,
  watch: (model: number) => trainer.cpu.watch(model),
  overview: (command: SentCommand) => canary_training_overview(received(Command, command)),
});
