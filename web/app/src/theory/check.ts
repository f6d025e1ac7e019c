import type { Calibrated, Calibration, SubsetOptions } from "@dpscope/wasm/calculators";
import type { CheckedTraining, TrainingDescription } from "@dpscope/wasm/studies";
import type { Failure, Outcome } from "../../../protocol/protocol";
import { CHECK } from "../state/check";
import { type Field, fieldOf, type Sampler, type State } from "../state/fields";
import { recordOf } from "../state/records";
import { drawsSubsets } from "../state/samplers";
import type { AccountingApi } from "../workers/accounting";
import { Lane } from "../workers/lane";
import type { Bundles } from "../workers/spawn";
import type { StudiesApi } from "../workers/studies";
import type { TheoryApi } from "../workers/theory";

/** The description; unspecified fields and parameters of other samplers are left out. */
export function trainingOf(state: State): TrainingDescription {
  return { ...recordOf(state, CHECK), drop_last: state.check_drop_last === "yes" };
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
  report: CheckedTraining | undefined;
  /** One for each command of the report. */
  remedies: readonly Remedy[] = [];
  isStale = false;
  #failure: Failure | undefined;
  #key = "";
  readonly #lane: Lane<StudiesApi>;
  readonly #theory: Lane<TheoryApi>;
  readonly #accounting: Lane<AccountingApi>;
  readonly #changed: () => void;

  constructor(spawn: Bundles, changed: () => void) {
    this.#lane = new Lane(spawn.studies, 200);
    this.#theory = new Lane(spawn.theory, 200);
    this.#accounting = new Lane(spawn.accounting, 200);
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
        this.#calibrate(this.report);
      }
    });
  }

  /** The noise that each command of the report computes. */
  #calibrate(report: CheckedTraining): void {
    const { claim, next, steps_per_epoch: steps } = report;
    if (claim.epsilon === undefined) return;
    const { epsilon, delta } = claim;
    const noiseFor = (command: string): Calibration => ({
      parameter: "noise",
      sampler: (optionOf(command, "sampler") ?? "poisson") as Sampler,
      epsilon,
      delta,
      steps,
      epochs: Math.ceil(report.steps / steps),
      ...rateOf(command, report),
    });
    const tell = (command: string, sampler: Sampler, outcome: Outcome<Calibrated>) => {
      const found =
        "value" in outcome ? { noise: outcome.value.value } : { reason: outcome.failure.message };
      const known = new Map(this.remedies.map((remedy) => [remedy.command, remedy]));
      known.set(command, { sampler, command, ...found });
      this.remedies = next.flatMap((one) => known.get(one) ?? []);
      this.#changed();
    };
    const questions = next.map((command) => [command, noiseFor(command)] as const);
    const isSubset = ([, { sampler }]: (typeof questions)[number]) => drawsSubsets(sampler);
    this.#theory.run(async (ask) => {
      for (const [command, question] of questions.filter((one) => !isSubset(one))) {
        const outcome = await ask("calibrate", question);
        if (report !== this.report) return;
        tell(command, question.sampler, outcome);
      }
    });
    const subsets = questions.filter(isSubset);
    if (subsets.length === 0) return;
    this.#accounting.run(async (ask) => {
      for (const [command, question] of subsets) {
        const outcome = await ask("calibrate_subsets", question, subsetsOf(command));
        if (report !== this.report) return;
        tell(command, question.sampler, outcome);
      }
    });
  }
}

/** The value of an option in a command. */
function optionOf(command: string, name: string): string | undefined {
  return new RegExp(`--${name} (\\S+)`).exec(command)?.[1];
}

/** The sampling rate of a calibration, unless it is one over the steps. */
function rateOf(command: string, report: CheckedTraining): { sampling_rate?: number } {
  const uses = optionOf(command, "uses-per-epoch");
  if (uses !== undefined) return { sampling_rate: Number(uses) / report.steps_per_epoch };
  const rate = optionOf(command, "sampling-rate");
  if (rate !== undefined) return { sampling_rate: Number(rate) };
  const isTruncated = optionOf(command, "max-batch-size") !== undefined;
  return isTruncated ? { sampling_rate: report.sampling_rate } : {};
}

/** The sizes of truncated batches. */
function subsetsOf(command: string): SubsetOptions {
  const most = optionOf(command, "max-batch-size");
  if (most === undefined) return {};
  const dataset_size = Number(optionOf(command, "dataset-size"));
  return { truncation: { dataset_size, max_batch_size: Number(most) } };
}
