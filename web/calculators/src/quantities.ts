/** What `<dpscope-value>` can show: one figure each, of a bound or of another calculator. */

import { type Calculator, type Figure, figureOf } from "./calculator";
import { counts, epsilon, noise, plan, training } from "./calculators";
import type { Call } from "./calls";
import type { Inputs } from "./fields";
import { NO_SUBSETS, type Row } from "./gap";
import type { BatchSampler, TrainingSettings } from "./types";

export interface Quantity {
  readonly about: string;
  readonly fields: Inputs;
  answer(call: Call, settings: object): Promise<{ figure: Figure; result: object }>;
  command(settings: object): string;
}

/** A bound on ε, by the training. */
function bound(about: string, row: Row, sampler: BatchSampler): Quantity {
  return {
    about,
    fields: training,
    async answer(call, settings) {
      const { delta, ...of } = settings as TrainingSettings;
      const result = await call("bound", row, of, { delta });
      const role = result.kind === "lower" ? "lower" : row === "poisson" ? "claim" : "upper";
      return { figure: figureOf(role, about, result), result };
    },
    command: (settings) =>
      epsilon.command({ ...(settings as TrainingSettings), sampler, ...NO_SUBSETS }),
  };
}

/** The first figure of a calculator. */
function first<Settings, Result extends object>(
  about: string,
  calculator: Calculator<Settings, Result>,
): Quantity {
  return {
    about,
    fields: calculator.fields,
    async answer(call, settings) {
      const { figures, result } = await calculator.answer(call, settings as Settings);
      const [figure] = figures;
      if (figure === undefined) throw new Error(`${calculator.name} has no figure`);
      return { figure, result };
    },
    command: (settings) => calculator.command(settings as Settings),
  };
}

export const quantities = {
  "poisson-epsilon": bound("what Poisson accounting claims", "poisson", "poisson"),
  "shuffle-epsilon": bound("what shuffled batches leak at least", "shuffle-best", "shuffle"),
  "persistent-shuffle-epsilon": bound(
    "what batches shuffled once leak at least",
    "persistent-shuffle",
    "persistent-shuffle",
  ),
  "balls-in-bins-epsilon": bound(
    "what balls-in-bins batches leak at most",
    "balls-in-bins",
    "balls-in-bins",
  ),
  "deterministic-epsilon": bound(
    "what batches leak at most under zero-out adjacency, however they are shuffled",
    "deterministic",
    "deterministic",
  ),
  "noise-multiplier": first("a noise multiplier that suffices for a target ε", noise),
  "audit-epsilon": first("the lower bound from error counts", counts),
  observations: first("the observations that an audit needs", plan),
} as const satisfies Record<string, Quantity>;

export type QuantityName = keyof typeof quantities;

/** Every attribute of the element but `quantity`, by its setting. */
export const settingsOfAll = [
  ...new Set(Object.values(quantities).flatMap(({ fields }) => Object.keys(fields))),
];
