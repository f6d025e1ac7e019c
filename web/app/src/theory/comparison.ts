import type { SimulationResult } from "@dpscope/wasm/audits";
import type { AuditConclusion } from "@dpscope/wasm/studies";
import type { WorkerLike } from "../../../protocol/protocol";
import type { Colour } from "../numbers/lines";
import type { State } from "../state/fields";
import { Lane } from "../workers/lane";
import type { StudiesApi } from "../workers/studies";
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

/** Curves and the claim of theory, for comparison with an audit. */
export class ComparisonSession {
  readonly #lane: Lane<StudiesApi>;
  readonly #changed: () => void;
  #key = "";
  #concluded: SimulationResult | undefined;
  #claim: number | undefined;
  curves: KnownCurve[] = [];
  /** Whether the complete audit refutes the claim. */
  conclusion: AuditConclusion | undefined;
  /** Why there is no conclusion, unless Poisson accounting has no value. */
  failure: string | undefined;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#lane = new Lane(spawn, 60);
    this.#changed = changed;
  }

  /** Compares the bound of a training with the reader's claim, or with that of Poisson accounting. */
  async conclude(state: State, result: SimulationResult, claim: number | undefined): Promise<void> {
    if (result === this.#concluded && claim === this.#claim) return;
    this.#concluded = result;
    this.#claim = claim;
    this.conclusion = undefined;
    this.failure = undefined;
    if (result.kind !== "bound") return;
    const { epsilon, delta, gain_at_10x, ceiling } = result;
    const bound = { epsilon, delta, gain_at_10x, ceiling };
    const outcome = await this.#lane.ask("audit_conclusion", settingOf(state), bound, claim);
    if (result !== this.#concluded || claim !== this.#claim) return;
    if ("value" in outcome) this.conclusion = outcome.value;
    else {
      const { kind, message } = outcome.failure;
      // a time limit has the kind of too large a grid, but ends the worker
      const isRefused = (kind === "input" || kind === "limit") && this.#lane.broken === undefined;
      const hasNoPoisson = claim === undefined && isRefused;
      if (!hasNoPoisson) this.failure = message;
    }
    this.#changed();
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
