import type { WorkerLike } from "../../../protocol/protocol";
import type { Colour } from "../numbers/lines";
import type { State } from "../state/fields";
import { Lane } from "../workers/lane";
import type { StudiesApi } from "../workers/studies.worker";
import { keyOf, settingOf } from "./setting";

/** A trade-off curve of theory. */
export interface KnownCurve {
  words: string;
  colour: Colour;
  columns: { fpr: Float64Array; fnr: Float64Array };
}

const KNOWN = [
  { kind: "poisson", words: "claimed", colour: "poisson" },
  { kind: "max-slice", words: "largest output", colour: "attack" },
] as const;

/** Curves of theory to compare an audit with. */
export class ComparisonSession {
  readonly #lane: Lane<StudiesApi>;
  readonly #changed: () => void;
  #key = "";
  curves: KnownCurve[] = [];

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#lane = new Lane(spawn, 60);
    this.#changed = changed;
  }

  show(state: State): void {
    const key = keyOf(state);
    if (key === this.#key) return;
    this.#key = key;
    this.curves = [];
    const known = KNOWN.filter(({ kind }) => kind === "poisson" || state.sampler === "shuffle");
    this.#lane.run(async (ask) => {
      for (const { kind, words, colour } of known) {
        const outcome = await ask("curve", kind, settingOf(state), undefined);
        if ("failure" in outcome) continue;
        this.curves.push({ words, colour, columns: apart(outcome.value) });
        this.#changed();
      }
    });
  }
}

/** The bundle's columns alternate. */
function apart(both: Float64Array): KnownCurve["columns"] {
  return {
    fpr: both.filter((_, index) => index % 2 === 0),
    fnr: both.filter((_, index) => index % 2 === 1),
  };
}
