/** The coordinator of an audit of PATE-GAN: assigns runs, joins and evaluates them. */

import init, { PateGanAudit, type PateGanQuestion } from "@dpscope/wasm/synth";
import { serve } from "../../../protocol/protocol";

let audit: PateGanAudit | undefined;

function open(): PateGanAudit {
  if (audit === undefined) throw new Error("no audit is open");
  return audit;
}

const api = {
  open: (asked: PateGanQuestion) => {
    audit?.free();
    audit = PateGanAudit.open(asked);
    return { layout: audit.layout(), ...audit.progress() };
  },
  next: (runs: number) => open().assign(runs),
  add: (evidence: Uint8Array) => {
    open().add(evidence);
    return open().progress();
  },
  release: (first: number, end: number) => open().release(first, end),
  so_far: () => open().so_far(),
  report: (elapsed_ms: number) => open().report(elapsed_ms),
};
export type PateGanApi = typeof api;

serve(init(), api);
