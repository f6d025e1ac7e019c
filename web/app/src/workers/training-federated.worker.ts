/** The coordinator of an audit of federated trainings: assigns trainings, joins and evaluates them. */

import init, {
  DataFiles,
  FederatedTrainingAudit,
  type FederatedTrainingQuestion,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { received, type SentFiles } from "./sent-files";

let audit: FederatedTrainingAudit | undefined;

function open(): FederatedTrainingAudit {
  if (audit === undefined) throw new Error("no audit is open");
  return audit;
}

const api = {
  /** Anew, or from saved trainings of the same question. */
  open: (asked: FederatedTrainingQuestion, files?: SentFiles, saved?: Uint8Array) => {
    audit?.free();
    audit =
      saved === undefined
        ? FederatedTrainingAudit.planned(asked, received(DataFiles, files))
        : FederatedTrainingAudit.from_bytes(saved);
    return { layout: audit.layout(), ...audit.progress() };
  },
  next: (trainings: number) => open().assign(trainings),
  add: (counted: Uint8Array) => {
    open().add(counted);
    return open().progress();
  },
  release: (first: number, end: number) => open().release(first, end),
  evaluate: () => open().so_far(),
  report: (claim: number | undefined, elapsed_ms: number) => open().report(claim, elapsed_ms),
  to_bytes: () => open().to_bytes(),
};
export type FederatedTrainingApi = typeof api;

serve(init(), api);
