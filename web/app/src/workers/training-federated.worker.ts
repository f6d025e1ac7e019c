/** The coordinator of an audit of federated trainings: assigns trainings, joins and evaluates them. */

import init, { Command, FederatedTrainingAudit } from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { Coordinator } from "./coordinator";
import { received, type SentCommand } from "./sent-files";

const coordinator = new Coordinator<FederatedTrainingAudit>();

serve(init(), {
  ...coordinator.api,
  /** Anew, or from saved trainings of the same command. */
  open: (command: SentCommand, saved?: Uint8Array) =>
    coordinator.open(() =>
      saved === undefined
        ? FederatedTrainingAudit.planned(received(Command, command))
        : FederatedTrainingAudit.from_bytes(saved),
    ),
  evaluate: () => coordinator.audit.so_far(),
  report: (claim: number | undefined, elapsed_ms: number) =>
    coordinator.audit.report(claim, elapsed_ms),
  to_bytes: () => coordinator.audit.to_bytes(),
});
