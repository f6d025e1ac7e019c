import type { CheckReport, TrainingDescription } from "@dpscope/wasm/studies";
import type { Failure, WorkerLike } from "../../../protocol/protocol";
import { FIELD_NAMES, type Field, fieldOf, type State } from "../state/fields";
import { Lane } from "../workers/lane";
import type { StudiesApi } from "../workers/studies.worker";

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
      this.#changed();
    });
  }
}
