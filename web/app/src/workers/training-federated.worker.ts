/** The coordinator of an audit of federated trainings: assigns trainings, joins and evaluates them. */

import init, {
  DataFiles,
  FederatedTrainingAudit,
  type FederatedTrainingQuestion,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { Coordinator } from "./coordinator";
import { received, type SentFiles } from "./sent-files";

const coordinator = new Coordinator<FederatedTrainingAudit>();

serve(init(), {
  ...coordinator.api,
  /** Anew, or from saved trainings of the same question. */
  open: (asked: FederatedTrainingQuestion, files?: SentFiles, saved?: Uint8Array) =>
    coordinator.open(() =>
      saved === undefined
        ? FederatedTrainingAudit.planned(asked, received(DataFiles, files))
        : FederatedTrainingAudit.from_bytes(saved),
    ),
  evaluate: () => coordinator.audit.so_far(),
  report: (claim: number | undefined, elapsed_ms: number) =>
    coordinator.audit.report(claim, elapsed_ms),
  to_bytes: () => coordinator.audit.to_bytes(),
});
