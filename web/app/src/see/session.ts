import type { Conclusion } from "@dpscope/wasm/calculators";
import type { AuditResult, Epoch } from "@dpscope/wasm/studies";
import type { Failure, Outcome } from "../../../protocol/protocol";
import type { Lines } from "../numbers/lines";
import type { Field, State } from "../state/fields";
import { about, drawsSubsets } from "../state/samplers";
import { seedAfter } from "../state/seed";
import { type Claimed, ownClaim, subsetLines } from "../theory/own-claim";
import type { AccountingApi } from "../workers/accounting";
import { type Ask, Lane } from "../workers/lane";
import type { Bundles } from "../workers/spawn";
import type { StudiesApi } from "../workers/studies";
import type { TheoryApi } from "../workers/theory";
import { claimedOf, type Drawing, drawingOf, refusalText, refusedField } from "./epoch";
import { type Stage, stageAfter, waitAfter } from "./stages";

export type Speed = 1 | 4 | 32;
/** Of each world. */
const MANY = 2000;

/** Epochs drawn one after the other, and their scores. */
export class SeeSession {
  epoch: Epoch | undefined;
  index = 0;
  stage: Stage = { name: "file" };
  isPlaying = false;
  speed: Speed = 1;
  readonly target: number[] = [];
  readonly zeroOut: number[] = [];
  /** What the errors at the threshold indicate. */
  evidence: AuditResult | undefined;
  /** What is proven of the reader's claim. */
  claim: Conclusion["claim"];
  #failure: Failure | undefined;
  #claimKey = "";
  #drawing: Drawing | undefined;
  #key = "";
  /** How often many epochs were added: each time has its own draws. */
  #added = 0;
  #state: State | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #draws: Lane<StudiesApi>;
  readonly #counts: Lane<TheoryApi>;
  readonly #claims: Lane<TheoryApi>;
  readonly #subsets: Lane<AccountingApi>;
  readonly #changed: () => void;

  constructor(spawn: Bundles, changed: () => void) {
    this.#draws = new Lane(spawn.studies, 500);
    this.#counts = new Lane(spawn.theory, 500);
    this.#claims = new Lane(spawn.theory, 500);
    this.#subsets = new Lane(spawn.accounting, 500);
    this.#changed = changed;
  }

  /** The number of batches. */
  get steps(): number {
    return this.#drawing?.size.steps ?? 0;
  }

  /** Why nothing is drawn. */
  get failure(): string | undefined {
    return this.#failure?.message;
  }

  /** Whether an input that has a field on the page was refused. */
  get isFieldRefused(): boolean {
    return refusedField(this.#failure?.field) !== undefined;
  }

  /** Why the input of a field was refused, with the name that `label` gives it. */
  refusalOf(field: Field, label: string): string | undefined {
    const failure = this.#failure;
    if (failure === undefined || refusedField(failure.field) !== field) return undefined;
    return refusalText(failure, label);
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
    this.#testClaim(state);
  }

  restart(): void {
    this.index = 0;
    this.#added = 0;
    this.target.length = 0;
    this.zeroOut.length = 0;
    this.evidence = undefined;
    this.epoch = undefined;
    this.#draw();
  }

  /** The view was opened: it moves, unless the reader prefers that nothing does. */
  open(): void {
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
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
    const { sampler, size, seed } = drawing;
    const [threat_model = "worst-case"] = about(sampler).threat_models;
    const dataset_size = size.steps * size.batch_size;

    this.#ask(
      (ask) =>
        ask(
          "scores",
          { ...size, dataset_size, sampler, epochs: 1, threat_model },
          MANY,
          seedAfter(seed, this.#added + 1),
        ),
      ({ target, zero_out }) => {
        this.#added += 1;
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
    const { sampler, size, seed } = drawing;
    const { index } = this;
    this.#ask(
      (ask) => ask("epoch", sampler, size, seed, index),
      (epoch) => {
        this.epoch = epoch;
        this.stage = { name: "file" };
      },
    );
  }

  #ask<T>(question: (ask: Ask<StudiesApi>) => Promise<Outcome<T>>, use: (value: T) => void): void {
    const key = this.#key;
    this.#draws.run(async (ask) => {
      const outcome = await question(ask);
      if (key !== this.#key) return;
      this.#failure = "failure" in outcome ? outcome.failure : undefined;
      if ("value" in outcome) use(outcome.value);
      this.#changed();
    });
  }

  /** What the errors at the threshold indicate: an estimate, as the threshold was chosen on them. */
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
    this.#counts.run(async (ask) => {
      const outcome = await ask("counts", counts, state.delta, state.significance);
      this.evidence = "value" in outcome ? outcome.value : undefined;
      this.#changed();
    });
  }

  #testClaim(state: State): void {
    const { see_claim } = state;
    const claimed = see_claim === undefined ? undefined : claimedOf(state, see_claim);
    const key = JSON.stringify(claimed) ?? "";
    if (key === this.#claimKey) return;
    this.#claimKey = key;
    this.claim = undefined;
    if (claimed === undefined) return;
    if (!drawsSubsets(claimed.sampler)) {
      this.#concludeClaim(claimed, {}, key);
      return;
    }
    this.#subsets.run(async (ask) => {
      const lines = await subsetLines(ask, claimed);
      if (key === this.#claimKey) this.#concludeClaim(claimed, lines, key);
    });
  }

  #concludeClaim(claimed: Claimed, lines: Lines, key: string): void {
    this.#claims.run(async (ask) => {
      const claim = await ownClaim(ask, claimed, lines);
      if (key !== this.#claimKey) return;
      this.claim = claim;
      this.#changed();
    });
  }

  errors(threshold: number): { falsePositives: number; falseNegatives: number } {
    return {
      falsePositives: this.zeroOut.filter((score) => score > threshold).length,
      falseNegatives: this.target.filter((score) => score <= threshold).length,
    };
  }
}

/** At the highest speed, an epoch takes two frames. */
function atOnce(stage: Stage): Stage | undefined {
  return stage.name === "scored" ? undefined : { name: "scored" };
}
