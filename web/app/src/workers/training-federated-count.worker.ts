/** Executes federated trainings, on the CPU or on a GPU. */

import init, {
  Command,
  FederatedCounter,
  federated_training_overview,
  GpuFederatedCounter,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { received, type SentCommand } from "./sent-files";
import { Trainer } from "./trainer";

const trainer = new Trainer(Command, {
  cpu: FederatedCounter.open,
  gpu: GpuFederatedCounter.open,
});

serve(init(), {
  ...trainer.api,
  watch: (training: number) => trainer.cpu.watch(training),
  overview: (command: SentCommand) => federated_training_overview(received(Command, command)),
});
