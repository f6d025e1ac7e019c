import type { Epoch } from "@dpscope/wasm/studies";
import type { State } from "../state/fields";
import { SAMPLER } from "../state/samplers";
import { seedAfter } from "../state/seed";
import type { Call, WorkerLike } from "../workers/calls";
import { Lane } from "../workers/lane";
import { type Drawing, drawingOf } from "./epoch";
import { type Stage, stageAfter, waitAfter } from "./stages";

export type Speed = 1 | 4 | 32;
/** Of each world. */
const MANY = 2000;

/** What the scores say at the threshold. */
export interface Told {
  epsilon: number;
  fpr_upper: number;
  fnr_upper: number;
}

/** Epochs drawn one after the other, and the scores that they gave. */
export class SeeSession {
  epoch: Epoch | undefined;
  index = 0;
  stage: Stage = { name: "file" };
  isPlaying = false;
  speed: Speed = 1;
  readonly target: number[] = [];
  readonly zeroOut: number[] = [];
  told: Told | undefined;
  failure: string | undefined;
  #drawing: Drawing | undefined;
  #key = "";
  /** Times that many epochs were added: each has draws of its own. */
  #added = 0;
  #state: State | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #draws: Lane;
  readonly #counts: Lane;
  readonly #changed: () => void;

  constructor(spawn: { theory(): WorkerLike; studies(): WorkerLike }, changed: () => void) {
    this.#draws = new Lane(spawn.studies, 500);
    this.#counts = new Lane(spawn.theory, 500);
    this.#changed = changed;
  }

  /** The number of batches. */
  get steps(): number {
    return this.#drawing?.steps ?? 0;
  }

  show(state: State): void {
    const drawing = drawingOf(state);
    const key = JSON.stringify(drawing);
    const isSameCut = this.#state?.see_threshold === state.see_threshold;
    this.#state = state;
    if (key !== this.#key) {
      this.#key = key;
      this.#drawing = drawing;
      this.restart();
    } else if (!isSameCut) this.#count();
  }

  restart(): void {
    this.index = 0;
    this.#added = 0;
    this.target.length = 0;
    this.zeroOut.length = 0;
    this.told = undefined;
    this.epoch = undefined;
    this.#draw();
  }

  play(): void {
    this.isPlaying = true;
    this.#next();
  }

  pause(): void {
    this.isPlaying = false;
    clearTimeout(this.#timer);
    this.#changed();
  }

  setSpeed(speed: Speed): void {
    this.speed = speed;
    this.#changed();
  }

  step(): void {
    if (this.epoch === undefined) return;
    const next = this.speed === 32 ? atOnce(this.stage) : stageAfter(this.stage, this.steps);
    if (next === undefined) {
      this.index += 1;
      this.#draw();
      return;
    }
    this.stage = next;
    if (next.name === "scored") {
      this.target.push(this.epoch.score_target);
      this.zeroOut.push(this.epoch.score_zero_out);
      this.#count();
    }
    this.#changed();
  }

  /** Many epochs at once, for the histograms. */
  more(): void {
    const drawing = this.#drawing;
    if (drawing === undefined) return;
    this.#ask(
      {
        name: "scores",
        args: [
          {
            noise_multiplier: drawing.noise_multiplier,
            steps: drawing.steps,
            epochs: 1,
            sampler: drawing.sampler,
            threat_model: SAMPLER[drawing.sampler].threatModels[0],
            batch_size: drawing.batch_size,
            buffer_examples: drawing.buffer_examples,
          },
          MANY,
          seedAfter(drawing.seed, this.#added + 1),
        ],
      },
      (value) => {
        this.#added += 1;
        const { target, zero_out } = value as { target: Float64Array; zero_out: Float64Array };
        this.target.push(...target);
        this.zeroOut.push(...zero_out);
        this.#count();
      },
    );
  }

  #next(): void {
    clearTimeout(this.#timer);
    if (!this.isPlaying) return;
    const wait = waitAfter(this.stage) / this.speed;
    this.#timer = setTimeout(() => {
      this.step();
      this.#next();
    }, wait);
  }

  #draw(): void {
    const drawing = this.#drawing;
    if (drawing === undefined) return;
    const { sampler, records, batch_size, noise_multiplier, buffer_examples, seed } = drawing;
    const options = { records, batch_size, noise_multiplier, buffer_examples };
    this.#ask({ name: "epoch", args: [sampler, options, seed, this.index] }, (value) => {
      this.epoch = value as Epoch;
      this.stage = { name: "file" };
    });
  }

  #ask(call: Call, got: (value: unknown) => void): void {
    const key = this.#key;
    this.#draws.run({
      calls: [call],
      answered: (_, answer) => {
        if (key !== this.#key) return true;
        this.failure = "failure" in answer ? answer.failure.message : undefined;
        if ("value" in answer) got(answer.value);
        this.#changed();
        return true;
      },
    });
  }

  /** What so many errors at the threshold say: an estimate, as the eye chose it. */
  #count(): void {
    const state = this.#state;
    if (state === undefined || this.target.length === 0) return;
    const { falsePositives, falseNegatives } = this.errors(state.see_threshold);
    const counts = {
      false_positives: falsePositives,
      zero_out_trials: this.zeroOut.length,
      false_negatives: falseNegatives,
      target_trials: this.target.length,
    };
    this.#counts.run({
      calls: [{ name: "counts", args: [counts, state.delta, state.significance] }],
      answered: (_, answer) => {
        this.told = "value" in answer ? (answer.value as Told) : undefined;
        this.#changed();
        return true;
      },
    });
  }

  errors(threshold: number): { falsePositives: number; falseNegatives: number } {
    return {
      falsePositives: this.zeroOut.filter((score) => score > threshold).length,
      falseNegatives: this.target.filter((score) => score <= threshold).length,
    };
  }
}

/** At the highest speed an epoch is two pictures. */
function atOnce(stage: Stage): Stage | undefined {
  return stage.name === "scored" ? undefined : { name: "scored" };
}
