import type { LineName } from "../numbers/lines";
import { AXES, type Axis, FIELDS, initialState, type State } from "../state/fields";
import type { Call, WorkerLike } from "../workers/calls";
import { Lane } from "../workers/lane";

/** ε of some lines along one parameter. */
export interface Sweep {
  axis: Axis;
  places: number[];
  epsilons: Partial<Record<LineName, ArrayLike<number>>>;
}

/** Row of the bundle and the line whose colour and name it has. */
const SHUFFLES: readonly (readonly [string, LineName])[] = [
  ["deterministic", "deterministic"],
  ["shuffle-best", "shuffle-max-slice"],
  ["poisson", "poisson"],
];

export function seriesOf(state: State): readonly (readonly [string, LineName])[] {
  if (state.sampler === "persistent-shuffle") {
    return [
      ["deterministic", "deterministic"],
      ["persistent-shuffle", "persistent-shuffle"],
      ["poisson", "poisson"],
    ];
  }
  return SHUFFLES;
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
  const [least, most] = ends(axis, value);
  const all = Array.from({ length: count }, (_, index) => {
    const place = least * (most / least) ** (index / (count - 1));
    return FIELDS[axis].whole ? Math.round(place) : Number(place.toPrecision(4));
  });
  return [...new Set(all)];
}

export class SweepSession {
  readonly #lane: Lane;
  readonly #changed: () => void;
  #key = "";
  sweep: Sweep | undefined;

  /** `stored`: the curves of the initial state. */
  constructor(spawn: () => WorkerLike, changed: () => void, stored: Sweep) {
    this.sweep = stored;
    this.#key = question(initialState()).key;
    this.#lane = new Lane(spawn, 120);
    this.#changed = changed;
  }

  show(state: State): void {
    const { axis, places, series, key } = question(state);
    if (key === this.#key) return;
    this.#key = key;
    const epsilons: Sweep["epsilons"] = {};
    this.#lane.run({
      calls: callsOf(state),
      answered: (index, answer) => {
        const name = series[index]?.[1];
        if ("value" in answer && name !== undefined) epsilons[name] = answer.value as Float64Array;
        this.sweep = { axis, places, epsilons: { ...epsilons } };
        this.#changed();
        return true;
      },
    });
  }
}

function question(state: State) {
  const { axis } = state;
  const places = placesOf(axis, state[axis]);
  const series = seriesOf(state);
  const fixed = AXES.map((name) => (name === axis ? "" : state[name]));
  const key = [axis, places[0], places.at(-1), series[1]?.[0], ...fixed].join(" ");
  return { axis, places, series, key };
}

/** What the bundle is asked: a call for each curve. */
export function callsOf(state: State): Call[] {
  const { axis, places, series } = question(state);
  const columns = AXES.map((name) =>
    name === axis ? Float64Array.from(places) : new Float64Array(places.length).fill(state[name]),
  );
  return series.map(([row]) => ({ name: "bound_columns", args: [row, ...columns] }));
}
