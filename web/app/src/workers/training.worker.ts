/** The coordinator of an audit of trained models: assigns runs, joins and evaluates them. */

import init, { Audit, Command } from "@dpscope/wasm/training";
import { serve } from "../../../protocol/protocol";
import { Coordinator } from "./coordinator";
import { received, type SentCommand } from "./sent-files";

const coordinator = new Coordinator<Audit>();

serve(init(), {
  ...coordinator.api,
  /** Anew, or from saved counts of the same command. */
  open: (command: SentCommand, saved?: Uint8Array) =>
    coordinator.open(() =>
      saved === undefined ? Audit.of_training(received(Command, command)) : Audit.from_bytes(saved),
    ),
  evaluate: () => ({
    result: coordinator.audit.result(),
    curve: coordinator.audit.curve(),
    scores: coordinator.audit.scores(),
  }),
  report: (claim: number | undefined, elapsed_ms: number) =>
    coordinator.audit.training_report(claim, elapsed_ms),
  to_bytes: () => coordinator.audit.to_bytes(),
});
