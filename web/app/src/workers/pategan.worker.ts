/** The coordinator of an audit of PATE-GAN: assigns runs, joins and evaluates them. */

import init, { PateGanAudit, type PateGanQuestion } from "@dpscope/wasm/synth";
import { serve } from "../../../protocol/protocol";
import { Coordinator } from "./coordinator";

const coordinator = new Coordinator<PateGanAudit>();

const api = {
  ...coordinator.api,
  open: (asked: PateGanQuestion) => coordinator.open(() => PateGanAudit.open(asked)),
  evaluate: () => coordinator.audit.so_far(),
  report: (elapsed_ms: number) => coordinator.audit.report(elapsed_ms),
};
export type PateGanApi = typeof api;

serve(init(), api);
