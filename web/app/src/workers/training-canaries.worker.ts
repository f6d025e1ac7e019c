/** The coordinator of an audit of models with many canaries: assigns models, joins and evaluates them. */

import init, {
  CanaryAudit,
  type CanaryTrainingQuestion,
  DataFiles,
} from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { received, type SentFiles } from "./sent-files";

let audit: CanaryAudit | undefined;

function open(): CanaryAudit {
  if (audit === undefined) throw new Error("no audit is open");
  return audit;
}

const api = {
  /** Anew, or from saved models of the same question. */
  open: (asked: CanaryTrainingQuestion, files?: SentFiles, saved?: Uint8Array) => {
    audit?.free();
    audit =
      saved === undefined
        ? CanaryAudit.planned(asked, received(DataFiles, files))
        : CanaryAudit.from_bytes(saved);
    return { layout: audit.layout(), ...audit.progress() };
  },
  next: (models: number) => open().assign(models),
  add: (counted: Uint8Array) => {
    open().add(counted);
    return open().progress();
  },
  release: (first: number, end: number) => open().release(first, end),
  evaluate: () => open().so_far(),
  report: (claim: number | undefined, elapsed_ms: number) => open().report(claim, elapsed_ms),
  to_bytes: () => open().to_bytes(),
};
export type CanaryTrainingApi = typeof api;

serve(init(), api);
