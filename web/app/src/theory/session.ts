import type { Accounted } from "@dpscope/wasm/calculators";
import type { Pair, PairEstimate } from "@dpscope/wasm/studies";
import { type Found, type LineName, type Lines, linesOf, only } from "../numbers/lines";
import { initialState, type State } from "../state/fields";
import type { Call, Failure, WorkerLike } from "../workers/calls";
import { Lane } from "../workers/lane";
import { type PairStep, pairSteps, plannedDraws } from "./draws";
import { keyOf, pairKeyOf, settingOf } from "./setting";

/** Workers of the two bundles. */
interface Spawn {
  theory(): WorkerLike;
  studies(): WorkerLike;
}

interface Keyed {
  key: string;
  lines: Lines;
}

const NOTHING: Keyed = { key: "", lines: {} };
/** Lines of closed forms and fast accountants. */
const AT_ONCE: readonly LineName[] = [
  "poisson",
  "deterministic",
  "shuffle-max-slice",
  "shuffle-sum",
  "persistent-shuffle",
];

/** Asks for all lines of a state: the fast ones together, balls-in-bins after them, the exact pair
 * at once, each in a worker of its own, so that none waits for another. */
export class TheorySession {
  readonly #changed: () => void;
  readonly #fast: Lane;
  readonly #bins: Lane;
  readonly #pair: Lane;
  #state: State;
  #atOnce: Keyed;
  #slow: Keyed;
  #drawn: Keyed;
  /** What was asked last: not again while it is computed. */
  readonly #asked = { slow: "", pair: "" };
  /** The planned draws are not all made yet. */
  isRefining = false;

  constructor(spawn: Spawn, changed: () => void, stored: Lines) {
    const state = initialState();
    this.#changed = changed;
    this.#fast = new Lane(spawn.theory, 400);
    this.#bins = new Lane(spawn.theory, 60);
    this.#pair = new Lane(spawn.studies, 60);
    this.#state = state;
    const key = keyOf(state);
    this.#atOnce = { key, lines: only(stored, AT_ONCE) };
    this.#slow = { key, lines: only(stored, ["balls-in-bins"]) };
    this.#drawn = { key: pairKeyOf(state), lines: only(stored, ["pair-lower", "pair-estimate"]) };
  }

  /** Whether the fast lines are not those of the state. */
  get isStale(): boolean {
    return this.#atOnce.key !== keyOf(this.#state) || this.#missing().length > 0;
  }

  /** Whether all lines that are not drawn are there. */
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
    if (this.isStale) this.#askFast();
    else this.#askBins();
    if (linesOf(state.sampler).includes("pair-lower")) this.#askPair();
    else this.#stopPair();
  }

  /** Loads what draws: a change may be near. */
  warm(): void {
    this.#pair.warm();
  }

  #missing(): LineName[] {
    const wanted = linesOf(this.#state.sampler).filter((name) => AT_ONCE.includes(name));
    return wanted.filter((name) => this.#atOnce.lines[name] === undefined);
  }

  #call(name: LineName): Call {
    return { name: "bound", args: [name, settingOf(this.#state), { delta: this.#state.delta }] };
  }

  #askFast(): void {
    const key = keyOf(this.#state);
    const names = linesOf(this.#state.sampler).filter((name) => AT_ONCE.includes(name));
    const lines: Lines = {};
    this.#fast.run({
      calls: names.map((name) => this.#call(name)),
      answered: (index, answer) => {
        const name = names[index];
        if (name !== undefined) lines[name] = found(answer);
        const isOver = index === names.length - 1 || isGone(answer);
        if (!isOver) return true;
        // A worker that is gone answers no more: its reason is that of the other lines too.
        for (const other of names) lines[other] ??= found(answer);
        const isCurrent = key === keyOf(this.#state);
        if (!isCurrent && !this.isStale) return false; // went there and back
        this.#atOnce = { key, lines };
        if (isCurrent) this.#askBins();
        this.#changed();
        return false;
      },
    });
  }

  #askBins(): void {
    const key = keyOf(this.#state);
    if (this.#slow.key === key || this.#asked.slow === key) return;
    this.#asked.slow = key;
    this.#slow = NOTHING;
    this.#bins.run({
      calls: [this.#call("balls-in-bins")],
      answered: (_, answer) => {
        this.#slow = { key, lines: { "balls-in-bins": found(answer) } };
        this.#changed();
      },
    });
  }

  #stopPair(): void {
    this.#pair.stop();
    this.#asked.pair = "";
    this.isRefining = false;
  }

  /** More and more draws, up to the planned number: only that gives a bound. */
  #askPair(): void {
    const state = this.#state;
    const key = pairKeyOf(state);
    const isDone = this.#drawn.key === key && this.#drawn.lines["pair-lower"] !== undefined;
    if (isDone || this.#asked.pair === key) return;
    this.#asked.pair = key;
    this.#drawn = NOTHING;
    this.isRefining = true;
    const steps = pairSteps(state.steps, state.epochs);
    this.#pair.run({
      calls: steps.map((step) => pairCall(state, step)),
      answered: (index, answer) => {
        const isLast = index === steps.length - 1;
        const before = this.#drawn.key === key ? this.#drawn.lines : {};
        this.#drawn = { key, lines: pairLines(answer, state, isLast, before) };
        this.isRefining = !isLast && !("failure" in answer);
        this.#changed();
        return this.isRefining;
      },
    });
  }
}

/** Whether no other call of the job is answered. */
function isGone(answer: { value: unknown } | { failure: Failure }): boolean {
  return "failure" in answer && ["internal", "stopped"].includes(answer.failure.kind);
}

function found(answer: { value: unknown } | { failure: Failure }): Found {
  if ("failure" in answer) return { reason: answer.failure.message };
  return { value: answer.value as Accounted };
}

function pairCall(state: State, { name, draws }: PairStep): Call {
  const { delta, seed, significance } = state;
  const args = [settingOf(state), { delta }, draws, seed];
  return { name, args: name === "pair" ? [...args, significance] : args };
}

/** What an answer says. An estimate stands when more draws fail; a bound comes with the last alone. */
function pairLines(
  answer: { value: unknown } | { failure: Failure },
  state: State,
  isLast: boolean,
  before: Lines,
): Lines {
  if ("failure" in answer) {
    const none = { reason: answer.failure.message };
    return { "pair-estimate": none, ...before, "pair-lower": none };
  }
  const { estimate, observations, seed } = answer.value as Pair | PairEstimate;
  // Of many epochs the limit has whole runs, and the estimate draws of one epoch.
  const drawn = isLast ? (plannedDraws(state.steps, state.epochs) ?? 0) : observations;
  const about: Found =
    "reason" in estimate ? estimate : { value: estimate, observations: drawn, seed };
  if (!isLast) return { "pair-estimate": about };
  const { lower } = answer.value as Pair;
  const limit = observations === 0 ? { value: lower } : { value: lower, observations, seed };
  return { "pair-lower": limit, "pair-estimate": about };
}
