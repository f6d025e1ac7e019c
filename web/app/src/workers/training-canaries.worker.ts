/** The coordinator of an audit of models with many canaries: assigns models, joins and evaluates them. */

import init, { CanaryAudit, Command } from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { Coordinator } from "./coordinator";
import { received, type SentCommand } from "./sent-files";

const coordinator = new Coordinator<CanaryAudit>();

serve(init(), {
  ...coordinator.api,
  /** Anew, or from saved models of the same command. */
  open: (command: SentCommand, saved?: Uint8Array) =>
    coordinator.open(() =>
      saved === undefined
        ? CanaryAudit.planned(received(Command, command))
        : CanaryAudit.from_bytes(saved),
    ),
  evaluate: () => coordinator.audit.so_far(),
  report: (claim: number | undefined, elapsed_ms: number) =>
    coordinator.audit.report(claim, elapsed_ms),
  to_bytes: () => coordinator.audit.to_bytes(),
});
