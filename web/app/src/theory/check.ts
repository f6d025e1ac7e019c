import type { CheckReport, TrainingDescription } from "@dpscope/wasm/studies";
import type { Failure, WorkerLike } from "../../../protocol/protocol";
import { FIELD_NAMES, type Field, fieldOf, type Sampler, type State } from "../state/fields";
import { Lane } from "../workers/lane";
import type { StudiesApi } from "../workers/studies.worker";
import type { TheoryApi } from "../workers/theory.worker";

/** Workers of the two bundles. */
interface Spawn {
  theory(): WorkerLike;
  studies(): WorkerLike;
}

/** The description; unspecified fields are left out. */
export function trainingOf(state: State): TrainingDescription {
  const training: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const { record } = fieldOf(name);
    if (record !== undefined && state[name] !== undefined) training[record] = state[name];
  }
  return {
    ...training,
    drop_last: state.check_drop_last === "yes",
  } as unknown as TrainingDescription;
}

/** Noise under which the claim holds, with the command that computes it. */
export interface Remedy {
  sampler: Sampler;
  command: string;
  /** The training with this noise, if there is any. */
  noise?: number;
  reason?: string;
}

export class CheckSession {
  report: CheckReport | undefined;
  /** One for each command of the report. */
  remedies: readonly Remedy[] = [];
  isStale = false;
  #failure: Failure | undefined;
  #key = "";
  readonly #lane: Lane<StudiesApi>;
  readonly #theory: Lane<TheoryApi>;
  readonly #changed: () => void;

  constructor(spawn: Spawn, changed: () => void) {
    this.#lane = new Lane(spawn.studies, 200);
    this.#theory = new Lane(spawn.theory, 200);
    this.#changed = changed;
  }

  get failure(): string | undefined {
    return this.#failure?.message;
  }

  /** The failure of one input. */
  fieldFailure(field: Field): string | undefined {
    const { record } = fieldOf(field);
    const failure = this.#failure;
    return record !== undefined && failure?.field === record ? failure.message : undefined;
  }

  show(state: State): void {
    const training = trainingOf(state);
    const key = JSON.stringify(training);
    if (key === this.#key) return;
    this.#key = key;
    this.isStale = true;
    this.#lane.run(async (ask) => {
      const outcome = await ask("check", training);
      this.isStale = key !== this.#key;
      this.#failure = "failure" in outcome ? outcome.failure : undefined;
      this.report = "value" in outcome ? outcome.value : undefined;
      this.remedies = [];
      this.#changed();
      if (this.report !== undefined && this.report.next.length > 0) {
        this.#calibrate(state.check_loader, this.report);
      }
    });
  }

  /** The noise that each command of the report computes. */
  #calibrate(loader: Sampler, report: CheckReport): void {
    const { claim, next, steps_per_epoch: steps } = report;
    this.#theory.run(async (ask) => {
      for (const [index, command] of next.entries()) {
        const sampler = index === 0 ? loader : "poisson";
        const outcome = await ask("calibrate", {
          parameter: "noise",
          // a sliding buffer has the bound of every order
          sampler: sampler === "sliding-buffer" ? "deterministic" : sampler,
          epsilon: claim.epsilon,
          delta: claim.delta,
          steps,
          epochs: Math.ceil(report.steps / steps),
          ...(sampler === "poisson" && { sampling_rate: report.sampling_rate }),
        });
        if (report !== this.report) return;
        const found =
          "value" in outcome ? { noise: outcome.value.value } : { reason: outcome.failure.message };
        this.remedies = [...this.remedies, { sampler, command, ...found }];
        this.#changed();
      }
    });
  }
}
