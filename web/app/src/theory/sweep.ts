import type { KnownBound } from "@dpscope/wasm/calculators";
import type { NumberField } from "../../../fields/field";
import type { WorkerLike } from "../../../protocol/protocol";
import { type LineName, linesOf } from "../numbers/lines";
import { AXES, type Axis, FIELDS, initialState, type State } from "../state/fields";
import { Lane } from "../workers/lane";
import type { TheoryApi } from "../workers/theory.worker";

/** ε of some lines along one parameter. */
export interface Sweep {
  axis: Axis;
  places: number[];
  epsilons: Partial<Record<LineName, ArrayLike<number>>>;
  /** Progress of the balls-in-bins curve until it is complete; `cut`: it ran out of time. */
  bins?: "waiting" | "computing" | "cut" | undefined;
}

/** A row of the bundle, and the line that gives it colour and name. */
const SERIES: readonly (readonly [KnownBound, LineName])[] = [
  ["deterministic", "deterministic"],
  ["poisson", "poisson"],
  ["shuffle-best", "shuffle-max-slice"],
  ["persistent-shuffle", "persistent-shuffle"],
];

/** The curves that apply to the sampler, as the lines of the table. */
export function seriesOf({ sampler }: State): readonly (readonly [KnownBound, LineName])[] {
  const names = linesOf(sampler);
  return SERIES.filter(([, name]) => names.includes(name));
}

/** Ends of the axis: the useful range, or the whole one where the state lies outside. */
export function ends(axis: Axis, value: number): [number, number] {
  const useful: Record<Axis, [number, number]> = {
    noise_multiplier: [0.3, 4],
    steps: [1, 10_000],
    epochs: [1, 100],
    delta: [1e-10, 1e-2],
  };
  const [least, most] = useful[axis];
  if (value >= least && value <= most) return [least, most];
  return [FIELDS[axis].least, FIELDS[axis].most];
}

/** Places along the axis, evenly apart on a logarithmic scale. */
export function placesOf(axis: Axis, value: number, count = 41): number[] {
  const { whole = false }: NumberField = FIELDS[axis];
  const [least, most] = ends(axis, value);
  const all = Array.from({ length: count }, (_, index) => {
    const place = least * (most / least) ** (index / (count - 1));
    return whole ? Math.round(place) : Number(place.toPrecision(4));
  });
  return [...new Set(all)];
}

/** Time limit of a curve that is computed point by point. */
const LONGEST_CURVE_MS = 15_000;
/** Curves that arrive within this time of the first appear together, so that nothing jumps. */
const TOGETHER_MS = 150;

export class SweepSession {
  readonly #fast: Lane<TheoryApi>;
  readonly #slow: Lane<TheoryApi>;
  readonly #changed: () => void;
  #key = "";
  sweep: Sweep | undefined;

  /** `stored`: the curves of the initial state. */
  constructor(spawn: () => WorkerLike, changed: () => void, stored: Sweep) {
    this.sweep = stored;
    this.#key = question(initialState()).key;
    this.#fast = new Lane(spawn, 120);
    this.#slow = new Lane(spawn, 0);
    this.#changed = changed;
  }

  /** Whether the curves belong to an earlier setting. */
  isStale = false;

  show(state: State): void {
    const { axis, places, series, key } = question(state);
    if (key === this.#key) return;
    this.#key = key;
    this.isStale = true;
    this.#slow.stop();
    const epsilons: Sweep["epsilons"] = {};
    const paint = (bins: Sweep["bins"]) => {
      this.sweep = { axis, places, epsilons: { ...epsilons }, bins };
      this.isStale = key !== this.#key; // while a slider moves, curves follow a step behind
      this.#changed();
    };
    let soon: ReturnType<typeof setTimeout> | undefined;
    this.#fast.run(async (ask) => {
      let bins: Sweep["bins"] = "waiting";
      for (const [row, name] of series) {
        const outcome = await ask("bound_columns", ...columnsOf(row, state));
        soon ??= setTimeout(() => key === this.#key && paint("computing"), TOGETHER_MS);
        if ("failure" in outcome) {
          bins = "cut";
          break;
        }
        epsilons[name] = outcome.value;
      }
      clearTimeout(soon);
      paint(bins);
    });
  }

  /** Drops the curves of another training. */
  drop(state: State): void {
    if (this.isStale || question(state).key !== this.#key) this.sweep = undefined;
  }

  /** The curve of balls-in-bins: point by point, once nothing else needs the processor. */
  showSlow(state: State): void {
    const { sweep } = this;
    if (this.isStale || sweep?.bins !== "waiting") return;
    const { places } = sweep;
    const order = spreadOut(places.length);
    const found = new Float64Array(places.length).fill(Number.NaN);
    const end = performance.now() + LONGEST_CURVE_MS;
    const publish = (bins: Sweep["bins"]) => {
      const { epsilons } = sweep;
      this.sweep = { ...sweep, epsilons: { ...epsilons, "balls-in-bins": found.slice() }, bins };
      this.#changed();
    };
    publish("computing");
    this.#slow.run(async (ask) => {
      for (const [step, index] of order.entries()) {
        const columns = columnsOf("balls-in-bins", state, [places[index] ?? 1]);
        const outcome = await ask("bound_columns", ...columns);
        if ("value" in outcome) found[index] = outcome.value[0] ?? Number.NaN;
        const isLast = step === order.length - 1;
        const isCut = "failure" in outcome || (!isLast && performance.now() > end);
        publish(isCut ? "cut" : isLast ? undefined : "computing");
        if (isCut) return;
      }
    });
  }
}

/** Every place once, distant ones first, so that a coarse curve appears early. */
export function spreadOut(count: number): number[] {
  const order = new Set<number>();
  for (let gap = 8; gap >= 1; gap /= 2) {
    for (let index = 0; index < count; index += gap) order.add(index);
    if (gap === 8) order.add(count - 1);
  }
  return [...order];
}

function question(state: State) {
  const { axis } = state;
  const places = placesOf(axis, state[axis]);
  const series = seriesOf(state);
  const fixed = AXES.map((name) => (name === axis ? "" : state[name]));
  const rows = series.map(([row]) => row);
  const key = [axis, places[0], places.at(-1), ...rows, ...fixed].join(" ");
  return { axis, places, series, key };
}

/** Arguments of the bundle's `bound_columns` for a row, by default at all places along the axis. */
export function columnsOf(
  row: KnownBound,
  state: State,
  places = question(state).places,
): Parameters<TheoryApi["bound_columns"]> {
  const { axis } = state;
  const column = (name: Axis) =>
    name === axis ? Float64Array.from(places) : new Float64Array(places.length).fill(state[name]);
  return [row, column("noise_multiplier"), column("steps"), column("epochs"), column("delta")];
}
