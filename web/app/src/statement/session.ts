import type { StatementTexts } from "@dpscope/wasm/studies";
import type { WorkerLike } from "../../../protocol/protocol";
import { boundCommand, checkCommand, compareCommand } from "../copies/command";
import type { LineName } from "../numbers/lines";
import type { State } from "../state/fields";
import { drawsSubsets } from "../state/samplers";
import { trainingOf } from "../theory/check";
import { boundSettingOf } from "../theory/setting";
import { Lane } from "../workers/lane";
import type { StudiesApi } from "../workers/studies";

export const FORMATS = [
  ["markdown", "Markdown"],
  ["latex", "LaTeX"],
  ["plain", "Plain text"],
] as const;
export type Format = keyof StatementTexts;

/** The command that prints the numbers of the statement. */
function commandOf(state: State): string {
  const { sampler } = state;
  const isBound = sampler === "persistent-shuffle" || drawsSubsets(sampler);
  return isBound ? boundCommand(state, sampler as LineName) : compareCommand(state);
}

/** The privacy statement of the view, written when it is opened. */
export class StatementSession {
  format: Format = "markdown";
  texts: StatementTexts | undefined;
  failure: string | undefined;
  readonly #lane: Lane<StudiesApi>;
  readonly #changed: () => void;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#lane = new Lane(spawn, 0);
    this.#changed = changed;
  }

  show(state: State): void {
    this.texts = undefined;
    this.failure = undefined;
    this.#lane.run(async (ask) => {
      const outcome =
        state.view === "check"
          ? await ask("check_statement", trainingOf(state), checkCommand(state))
          : await ask(
              "training_statement",
              state.sampler,
              boundSettingOf(state),
              state.delta,
              commandOf(state),
              state.claim,
            );
      this.failure = "failure" in outcome ? outcome.failure.message : undefined;
      this.texts = "value" in outcome ? outcome.value : undefined;
      this.#changed();
    });
  }
}
