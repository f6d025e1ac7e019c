import type { KnownBound } from "@dpscope/wasm/calculators";
import type { NumberField } from "../../../fields/field";
import type { Outcome, WorkerLike } from "../../../protocol/protocol";
import { type LineName, linesOf, linesThatAre } from "../numbers/lines";
import { AXES, type Axis, FIELDS, initialState, type State } from "../state/fields";
import { drawsSubsets } from "../state/samplers";
import type { AccountingApi } from "../workers/accounting";
import { Lane } from "../workers/lane";
import type { TheoryApi } from "../workers/theory";
import { boundSettingOf, settingOf } from "./setting";

/** ε of some lines along one parameter. */
export interface Sweep {
  axis: Axis;
  places: number[];
  epsilons: Partial<Record<LineName, ArrayLike<number>>>;
  /** Progress of the curves that are computed point by point until they are complete; `cut`: they ran
   * out of time. */
  slow?: "waiting" | "computing" | "cut" | undefined;
}

/** A row of the bundle, and the line that gives it colour and name. */
const SERIES: readonly (readonly [KnownBound, LineName])[] = [
  ["deterministic", "deterministic"],
  ["poisson", "poisson"],
  ["shuffle-best", "shuffle-max-slice"],
  ["persistent-shuffle", "persistent-shuffle"],
];

/** Curves that are computed point by point. */
export const BY_POINT = [...linesThatAre("slow"), ...linesThatAre("subsets")];

/** The curves that are computed at once, as the lines of the table. */
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
  readonly #subsets: Lane<AccountingApi>;
  readonly #changed: () => void;
  #key = "";
  sweep: Sweep | undefined;

  /** `stored`: the curves of the initial state. */
  constructor(
    spawn: { theory(): WorkerLike; accounting(): WorkerLike },
    changed: () => void,
    stored: Sweep,
  ) {
    this.sweep = stored;
    this.#key = question(initialState()).key;
    this.#fast = new Lane(spawn.theory, 120);
    this.#slow = new Lane(spawn.theory, 0);
    this.#subsets = new Lane(spawn.accounting, 0);
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
    this.#subsets.stop();
    const epsilons: Sweep["epsilons"] = {};
    const paint = (slow: Sweep["slow"]) => {
      this.sweep = { axis, places, epsilons: { ...epsilons }, slow };
      this.isStale = key !== this.#key; // while a slider moves, curves follow a step behind
      this.#changed();
    };
    let soon: ReturnType<typeof setTimeout> | undefined;
    this.#fast.run(async (ask) => {
      let slow: Sweep["slow"] = "waiting";
      for (const [row, name] of series) {
        const outcome = await ask("bound_columns", row, settingOf(state), ...alongAxis(state));
        soon ??= setTimeout(() => key === this.#key && paint("computing"), TOGETHER_MS);
        if ("failure" in outcome) {
          slow = "cut";
          break;
        }
        epsilons[name] = outcome.value;
      }
      clearTimeout(soon);
      paint(slow);
    });
  }

  /** Drops the curves of another training. */
  drop(state: State): void {
    if (this.isStale || question(state).key !== this.#key) this.sweep = undefined;
  }

  /** Ends the workers. */
  close(): void {
    for (const lane of [this.#fast, this.#slow, this.#subsets]) lane.close();
  }

  /** The curves that are computed point by point, once nothing else needs the processor. */
  showSlow(state: State): void {
    const { sweep } = this;
    if (this.isStale || sweep?.slow !== "waiting") return;
    const rows = linesOf(state.sampler).filter((name) => BY_POINT.includes(name));
    const { places } = sweep;
    const order = spreadOut(places.length);
    const found = rows.map(
      (row) => [row, new Float64Array(places.length).fill(Number.NaN)] as const,
    );
    const end = performance.now() + LONGEST_CURVE_MS;
    const publish = (slow: Sweep["slow"]) => {
      const epsilons = { ...sweep.epsilons };
      for (const [row, values] of found) epsilons[row] = values.slice();
      this.sweep = { ...sweep, epsilons, slow };
      this.#changed();
    };
    publish("computing");
    const points = async (
      at: (row: KnownBound, place: number) => Promise<Outcome<Float64Array>>,
    ) => {
      for (const [step, index] of order.entries()) {
        let isCut = false;
        for (const [row, values] of found) {
          const outcome = await at(row, places[index] ?? 1);
          if ("value" in outcome) values[index] = outcome.value[0] ?? Number.NaN;
          isCut ||= "failure" in outcome;
        }
        const isLast = step === order.length - 1;
        isCut ||= !isLast && performance.now() > end;
        publish(isCut ? "cut" : isLast ? undefined : "computing");
        if (isCut) return;
      }
    };
    if (drawsSubsets(state.sampler)) {
      this.#subsets.run((ask) =>
        points((row, place) =>
          ask("subset_columns", row, boundSettingOf(state), ...alongAxis(state, [place])),
        ),
      );
    } else {
      this.#slow.run((ask) =>
        points((row, place) =>
          ask("bound_columns", row, settingOf(state), ...alongAxis(state, [place])),
        ),
      );
    }
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
  const slow = linesOf(state.sampler).filter((name) => BY_POINT.includes(name));
  const rows = [...series.map(([row]) => row), ...slow];
  const setting = JSON.stringify(boundSettingOf({ ...state, [axis]: places[0] }));
  const key = [axis, places[0], places.at(-1), ...rows, ...fixed, setting].join(" ");
  return { axis, places, series, key };
}

/** δ, the axis and places along it, by default all: the last arguments of `bound_columns`. */
export function alongAxis(
  state: State,
  places = question(state).places,
): [number, Axis, Float64Array] {
  return [state.delta, state.axis, Float64Array.from(places)];
}
