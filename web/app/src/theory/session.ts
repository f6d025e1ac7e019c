import type { Accounted, Conclusion } from "@dpscope/wasm/calculators";
import type { Pair, PairEstimate } from "@dpscope/wasm/studies";
import type { Outcome } from "../../../protocol/protocol";
import {
  epsilonsOf,
  type LineName,
  type LineResult,
  type Lines,
  linesOf,
  linesThatAre,
  only,
} from "../numbers/lines";
import { initialState, type State } from "../state/fields";
import { drawsSubsets, type Sampler } from "../state/samplers";
import type { AccountingApi } from "../workers/accounting";
import { type Ask, Lane } from "../workers/lane";
import type { Bundles } from "../workers/spawn";
import type { StudiesApi } from "../workers/studies";
import type { TheoryApi } from "../workers/theory";
import { type PairStep, pairSteps, plannedDraws } from "./draws";
import { lineOf } from "./own-claim";
import { boundSettingOf, keyOf, pairKeyOf, settingOf } from "./setting";

interface Keyed {
  key: string;
  lines: Lines;
}

interface Concluded {
  key: string;
  sampler: Sampler | undefined;
  conclusion: Conclusion | undefined;
}

const NOTHING: Keyed = { key: "", lines: {} };
const NOT_CONCLUDED: Concluded = { key: "", sampler: undefined, conclusion: undefined };
const AT_ONCE = linesThatAre("fast");
const OF_SUBSETS = linesThatAre("subsets");

/** Computes all lines of a state in several workers, so that none waits for another: the fast lines
 * together, balls-in-bins after them, and the worst-case pair or uniform subsets at once. */
export class TheorySession {
  readonly #changed: () => void;
  readonly #fast: Lane<TheoryApi>;
  readonly #bins: Lane<TheoryApi>;
  readonly #pair: Lane<StudiesApi>;
  readonly #subsets: Lane<AccountingApi>;
  #state: State;
  #atOnce: Keyed;
  #slow: Keyed;
  #drawn: Keyed;
  /** From the newest lines. */
  #concluded: Concluded;
  #conclusions = 0;
  /** Keys of the latest requests, which are not repeated while they run. */
  readonly #requested = { slow: "", pair: "" };
  /** Whether more draws are planned. */
  isRefining = false;

  constructor(
    spawn: Bundles,
    changed: () => void,
    { lines, conclusion }: { lines: Lines; conclusion: Conclusion },
  ) {
    const state = initialState();
    this.#changed = changed;
    this.#fast = new Lane(spawn.theory, 400);
    this.#bins = new Lane(spawn.theory, 60);
    this.#pair = new Lane(spawn.studies, 60);
    this.#subsets = new Lane(spawn.accounting, 400);
    this.#state = state;
    const key = keyOf(state);
    this.#atOnce = { key, lines: only(lines, AT_ONCE) };
    this.#slow = { key, lines: only(lines, ["balls-in-bins"]) };
    this.#drawn = { key: pairKeyOf(state), lines: only(lines, ["pair-lower", "pair-estimate"]) };
    this.#concluded = { key: this.#conclusionKey, sampler: state.sampler, conclusion };
  }

  /** Whether the fast lines or their conclusion belong to an earlier state. */
  get isStale(): boolean {
    return this.#hasOldLines || this.#concluded.key !== this.#conclusionKey;
  }

  get #hasOldLines(): boolean {
    return this.#atOnce.key !== keyOf(this.#state) || this.#missing().length > 0;
  }

  get #conclusionKey(): string {
    const { sampler, claim = "" } = this.#state;
    return `${this.#atOnce.key} ${sampler} ${claim}`;
  }

  get conclusion(): Conclusion | undefined {
    return this.#concluded.conclusion;
  }

  /** Whether all lines without simulation are complete. */
  get hasNumbers(): boolean {
    return !this.isStale && this.#slow.key === keyOf(this.#state);
  }

  /** The newest lines, all of one setting. */
  get lines(): Lines {
    const { key, lines } = this.#atOnce;
    const slow = this.#slow.key === key ? this.#slow.lines : {};
    const drawn = this.#drawn.key.startsWith(`${key} `) ? this.#drawn.lines : {};
    return { ...slow, ...drawn, ...lines };
  }

  show(state: State): void {
    this.#state = state;
    if (drawsSubsets(state.sampler)) {
      // bounds of other batches do not stay while those of these are computed
      if (this.#concluded.sampler !== state.sampler) this.#concluded = NOT_CONCLUDED;
      this.#askSubsets();
    }
    if (this.#hasOldLines) this.#askFast();
    else {
      if (this.isStale) void this.#conclude();
      this.#askBins();
    }
    if (linesOf(state.sampler).includes("pair-lower")) this.#askPair();
    else this.#stopPair();
  }

  /** Loads the worker that a change is likely to need. */
  warm(): void {
    if (drawsSubsets(this.#state.sampler)) this.#subsets.warm();
    else this.#pair.warm();
  }

  /** Drops what belongs to another training: a link shows nothing before its own numbers. */
  drop(state: State): void {
    this.#state = state;
    if (this.#atOnce.key !== keyOf(state)) {
      this.#atOnce = NOTHING;
      this.#drawn = NOTHING;
    }
    if (this.#concluded.key !== this.#conclusionKey) {
      this.#concluded = NOT_CONCLUDED;
    }
  }

  /** Ends the workers. */
  close(): void {
    for (const lane of [this.#fast, this.#bins, this.#pair, this.#subsets]) lane.close();
  }

  #missing(): LineName[] {
    const names = linesOf(this.#state.sampler).filter((name) => AT_ONCE.includes(name));
    return names.filter((name) => this.#atOnce.lines[name] === undefined);
  }

  #askFast(): void {
    const state = this.#state;
    const key = keyOf(state);
    const names = linesOf(state.sampler).filter((name) => AT_ONCE.includes(name));
    this.#fast.run(async (ask) => {
      const lines: Lines = {};
      for (const name of names) lines[name] = lineOf(await askBound(ask, name, state));
      const isCurrent = key === keyOf(this.#state);
      if (!isCurrent && !this.#hasOldLines) return; // changed and changed back
      this.#atOnce = { key, lines };
      if (isCurrent) this.#askBins();
      await this.#conclude();
    });
  }

  /** Concludes from the newest lines; a later call replaces this one. */
  async #conclude(): Promise<void> {
    const { sampler, significance, claim } = this.#state;
    const key = this.#conclusionKey;
    const isWaiting = drawsSubsets(sampler) && this.#slow.key !== keyOf(this.#state);
    if (isWaiting) return this.#changed(); // concluded once their bounds are there
    this.#conclusions += 1;
    const call = this.#conclusions;
    const conclusion = await this.#fast
      .warm()
      .request("conclusion", [sampler, epsilonsOf(this.lines), significance, claim])
      .catch(() => undefined);
    if (call !== this.#conclusions) return;
    this.#concluded = { key, sampler, conclusion };
    this.#changed();
  }

  /** Both bounds, and the conclusion when both are there. */
  #askSubsets(): void {
    const state = this.#state;
    const key = keyOf(state);
    if (this.#slow.key === key || this.#requested.slow === key) return;
    this.#requested.slow = key;
    this.#slow = NOTHING;
    this.#subsets.run(async (ask) => {
      const lines: Lines = {};
      for (const name of linesOf(state.sampler).filter((name) => OF_SUBSETS.includes(name))) {
        const at = { delta: state.delta };
        lines[name] = lineOf(await ask("subset_bound", name, boundSettingOf(state), at));
      }
      this.#slow = { key, lines };
      await this.#conclude();
    });
  }

  #askBins(): void {
    const state = this.#state;
    if (!linesOf(state.sampler).includes("balls-in-bins")) return;
    const key = keyOf(state);
    if (this.#slow.key === key || this.#requested.slow === key) return;
    this.#requested.slow = key;
    this.#slow = NOTHING;
    this.#bins.run(async (ask) => {
      const line = lineOf(await askBound(ask, "balls-in-bins", state));
      this.#slow = { key, lines: { "balls-in-bins": line } };
      await this.#conclude();
    });
  }

  #stopPair(): void {
    this.#pair.stop();
    this.#requested.pair = "";
    this.isRefining = false;
  }

  /** More and more draws, up to the planned number, which alone yields a bound. */
  #askPair(): void {
    const state = this.#state;
    const key = pairKeyOf(state);
    const isDone = this.#drawn.key === key && this.#drawn.lines["pair-lower"] !== undefined;
    if (isDone || this.#requested.pair === key) return;
    this.#requested.pair = key;
    this.#drawn = NOTHING;
    this.isRefining = true;
    const steps = pairSteps(state.steps, state.epochs);
    this.#pair.run(async (ask) => {
      for (const [index, step] of steps.entries()) {
        const outcome = await askPair(ask, state, step);
        const isLast = index === steps.length - 1;
        const before = this.#drawn.key === key ? this.#drawn.lines : {};
        this.#drawn = { key, lines: pairLines(outcome, state, isLast, before) };
        this.isRefining = !isLast && !("failure" in outcome);
        if (!this.isRefining) return this.#conclude();
        this.#changed();
      }
    });
  }
}

function askBound(ask: Ask<TheoryApi>, name: LineName, state: State): Promise<Outcome<Accounted>> {
  return ask("bound", name, settingOf(state), { delta: state.delta });
}

function askPair(
  ask: Ask<StudiesApi>,
  state: State,
  { name, draws }: PairStep,
): Promise<Outcome<Pair | PairEstimate>> {
  const { delta, seed, significance } = state;
  const setting = settingOf(state);
  return name === "pair"
    ? ask(name, setting, { delta }, draws, seed, significance)
    : ask(name, setting, { delta }, draws, seed);
}

/** An estimate stays when more draws fail; a bound comes with the last alone. */
function pairLines(
  outcome: Outcome<Pair | PairEstimate>,
  state: State,
  isLast: boolean,
  before: Lines,
): Lines {
  if ("failure" in outcome) {
    const none = { reason: outcome.failure.message };
    return { "pair-estimate": none, ...before, "pair-lower": none };
  }
  const { estimate, observations, seed } = outcome.value;
  // With many epochs, the bound comes from whole runs and the estimate from draws of one epoch.
  const drawn = isLast ? (plannedDraws(state.steps, state.epochs) ?? 0) : observations;
  const about: LineResult =
    "reason" in estimate ? estimate : { value: estimate, observations: drawn, seed };
  if (!isLast) return { "pair-estimate": about };
  const { lower } = outcome.value as Pair;
  const limit = observations === 0 ? { value: lower } : { value: lower, observations, seed };
  return { "pair-lower": limit, "pair-estimate": about };
}
