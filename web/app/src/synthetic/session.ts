import type { PateGanAnswer, PateGanFacts, PateGanQuestion } from "@dpscope/wasm/synth";
import { initialState, type State } from "../state/fields";
import { questionOf } from "./question";
import { type Crew, PateGanRun } from "./run";
import stored from "./stored.json";

/** Sliders and switches are often moved in a row. */
const PATIENCE_MS = 300;

/** Faults and implementations, computed in advance. A test recomputes them. */
export const facts = stored.facts as PateGanFacts;

/** The audit of the page: that of the default settings is stored, others start by themselves. */
export class PateGanSession {
  run: PateGanRun | undefined;
  /** The last whole audit; the stored one at first. */
  answer: PateGanAnswer = stored.answer as unknown as PateGanAnswer;
  /** What `answer` answers. */
  answered: PateGanQuestion = questionOf(initialState());
  #asked = this.answered;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #crew: Crew;
  readonly #changed: () => void;

  constructor(crew: Crew, changed: () => void) {
    this.#crew = crew;
    this.#changed = changed;
  }

  /** Whether the answer is of other settings than those of the page. */
  get isStale(): boolean {
    return keyOf(this.answered) !== keyOf(this.#asked);
  }

  get isRunning(): boolean {
    return this.#timer !== undefined || this.run?.isOver === false;
  }

  show(state: State): void {
    const asked = questionOf(state);
    if (keyOf(asked) === keyOf(this.#asked)) return;
    this.#asked = asked;
    this.stop();
    this.run = undefined;
    if (this.isStale) this.#timer = setTimeout(() => this.start(), PATIENCE_MS);
  }

  start(): void {
    this.stop();
    const asked = this.#asked;
    const run = new PateGanRun(asked, this.#crew, () => {
      if (run.answer !== undefined && asked === this.#asked) {
        this.answer = run.answer;
        this.answered = asked;
      }
      this.#changed();
    });
    this.run = run;
    void run.start();
    this.#changed();
  }

  /** Ends the run that is under way. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.run?.cancel();
  }
}

function keyOf(asked: PateGanQuestion): string {
  return JSON.stringify(asked);
}
