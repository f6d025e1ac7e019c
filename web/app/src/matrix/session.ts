import type { MatrixReport } from "@dpscope/wasm/accounting";
import type { Failure, WorkerLike } from "../../../protocol/protocol";
import { type Field, fieldOf, type State } from "../state/fields";
import type { AccountingApi } from "../workers/accounting";
import { Lane } from "../workers/lane";
import { comparisonOf, INPUT_OF, questionOf } from "./question";

/** The bound of a strategy, and all strategies at its ε. */
export class MatrixSession {
  report: MatrixReport | undefined;
  /** All strategies at one ε. */
  comparison: MatrixReport | undefined;
  /** Why there is no comparison. */
  comparisonFailure: string | undefined;
  isStale = true;
  isComparing = true;
  #failure: Failure | undefined;
  #key = "";
  #compared = "";
  readonly #one: Lane<AccountingApi>;
  readonly #all: Lane<AccountingApi>;
  readonly #changed: () => void;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#one = new Lane(spawn, 300);
    this.#all = new Lane(spawn, 300);
    this.#changed = changed;
  }

  /** Why there is no bound, with the label of the input to change. */
  get failure(): string | undefined {
    const { message, field = "" } = this.#failure ?? {};
    const input = INPUT_OF[field];
    if (message === undefined || input === undefined) return message;
    return message.startsWith(`${field} `)
      ? `${fieldOf(input).label}${message.slice(field.length)}`
      : message;
  }

  fieldFailure(field: Field): string | undefined {
    return INPUT_OF[this.#failure?.field ?? ""] === field ? this.failure : undefined;
  }

  show(state: State): void {
    const question = questionOf(state, state.matrix_strategy);
    const key = JSON.stringify(question);
    if (key === this.#key) return;
    this.#key = key;
    this.isStale = true;
    this.#one.run(async (ask) => {
      const outcome = await ask("matrix", question);
      this.isStale = key !== this.#key;
      this.#failure = "failure" in outcome ? outcome.failure : undefined;
      this.report = "value" in outcome ? outcome.value : undefined;
      const epsilon =
        state.matrix_goal === "epsilon"
          ? state.matrix_epsilon
          : this.report?.strategies[0]?.value?.epsilon;
      if (epsilon !== undefined) this.#compare(state, epsilon);
      this.#changed();
    });
  }

  #compare(state: State, epsilon: number): void {
    const question = comparisonOf(state, epsilon);
    const key = JSON.stringify(question);
    if (key === this.#compared) return;
    this.#compared = key;
    this.isComparing = true;
    this.#all.run(async (ask) => {
      const outcome = await ask("matrix", question);
      this.isComparing = key !== this.#compared;
      this.comparison = "value" in outcome ? outcome.value : undefined;
      this.comparisonFailure = "failure" in outcome ? outcome.failure.message : undefined;
      this.#changed();
    });
  }
}
