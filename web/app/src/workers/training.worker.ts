/** The coordinator of an audit of trained models: assigns runs, joins and evaluates them. */

import init, { Audit, DataFiles, type TrainingQuestion } from "@dpscope/wasm/training";
import { serve } from "../../../protocol/protocol";
import { received, type SentFiles } from "./sent-files";

let audit: Audit | undefined;

function open(): Audit {
  if (audit === undefined) throw new Error("no audit is open");
  return audit;
}

const api = {
  /** Anew, or from saved counts of the same question. */
  open: (asked: TrainingQuestion, files?: SentFiles, saved?: Uint8Array) => {
    audit?.free();
    audit =
      saved === undefined
        ? Audit.of_training(asked, received(DataFiles, files))
        : Audit.from_bytes(saved);
    return { layout: audit.layout(), ...audit.progress() };
  },
  next: (runs: number) => open().assign(runs),
  add: (counted: Uint8Array) => {
    open().add(counted);
    return open().progress();
  },
  release: (first: number, end: number) => open().release(first, end),
  evaluate: () => ({
    result: open().result(),
    curve: open().curve(),
    scores: open().scores(),
  }),
  report: (claim: number | undefined, elapsed_ms: number) =>
    open().training_report(claim, elapsed_ms),
  to_bytes: () => open().to_bytes(),
};
export type TrainingApi = typeof api;

serve(init(), api);
