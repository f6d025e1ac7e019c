import type { CheckReport, Training } from "@dpscope/wasm/studies";
import type { Failure, WorkerLike } from "../../../protocol/protocol";
import type { Field, State } from "../state/fields";
import { Lane } from "../workers/lane";
import type { StudiesApi } from "../workers/studies.worker";

/** The bundle's name of each field of the form. */
export const TRAINING_FIELDS = {
  check_dataset: "dataset_size",
  check_batch: "batch_size",
  check_epochs: "epochs",
  check_noise: "noise_multiplier",
  check_loader: "loader",
  check_buffer: "buffer_examples",
  check_drop_last: "drop_last",
  check_claim: "claim",
  check_delta: "delta",
  check_adjacency: "claim_adjacency",
  check_accountant: "accountant",
  check_rate: "accounted_sampling_rate",
  check_steps: "accounted_steps",
  check_std: "noise_std",
  check_clip: "clip_norm",
  check_noise_on: "noise_on",
} as const satisfies Partial<Record<Field, string>>;

/** The description; unspecified fields are left out. */
export function trainingOf(state: State): Training {
  const training: Record<string, unknown> = {};
  for (const [field, name] of Object.entries(TRAINING_FIELDS)) {
    const value = state[field as Field];
    if (value !== undefined) training[name] = value;
  }
  training.drop_last = state.check_drop_last === "yes";
  return training as unknown as Training;
}

export class CheckSession {
  report: CheckReport | undefined;
  isStale = false;
  #failure: Failure | undefined;
  #key = "";
  readonly #lane: Lane<StudiesApi>;
  readonly #changed: () => void;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#lane = new Lane(spawn, 200);
    this.#changed = changed;
  }

  get failure(): string | undefined {
    return this.#failure?.message;
  }

  /** What the bundle says of one input. */
  fieldFailure(field: Field): string | undefined {
    const name = (TRAINING_FIELDS as Partial<Record<Field, string>>)[field];
    return this.#failure?.field === name && name !== undefined ? this.#failure?.message : undefined;
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
      this.#changed();
    });
  }
}
