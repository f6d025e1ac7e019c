import type { PateGanAnswer, PateGanQuestion, PateGanSoFar } from "@dpscope/wasm/synth";
import type { Client, WorkerLike } from "../../../protocol/protocol";
import { AuditRun } from "../audit/run";
import type { PateGanApi } from "../workers/pategan.worker";

export interface Crew {
  coordinator(): WorkerLike;
  counter(): WorkerLike;
  /** Workers that train. */
  cores: number;
}

/** Runs that are trained at once. */
const LANES = 8;
const PACE = {
  range_ms: { cpu: 60, gpu: 60 },
  first: { cpu: LANES, gpu: LANES },
  fewest: LANES,
  patience_ms: 120_000,
  patience_at_work_ms: 120_000,
};

/** One audit of PATE-GAN, whose results are runs of both worlds. */
export class PateGanRun extends AuditRun<PateGanQuestion, PateGanSoFar, PateGanAnswer> {
  constructor(asked: PateGanQuestion, { cores, ...crew }: Crew, changed: () => void) {
    const subject = {
      plan: asked,
      total: 2 * asked.runs,
      pace: PACE,
      recovery: "its runs are trained again",
      opens: [asked],
      shares: [],
      estimate: () => undefined,
      // the report repeats the whole attack
      skipsLastEvaluation: true,
      finished: (coordinator: unknown, elapsed_ms: number) =>
        // it has more functions than the coordinators of every audit
        (coordinator as Client<PateGanApi>).request("report", [elapsed_ms]),
    };
    const workers = Math.min(cores, Math.ceil(asked.runs / LANES));
    super(subject, { device: "cpu", float_mode: "exact" }, { ...crew, workers }, changed);
  }
}
