/** What a calculator is: its inputs, the question it asks of the wasm bundle, and the words of its answer. */

import { methodInWords } from "../../numbers/methods";
import { confidence, rounded, SIGN } from "../../numbers/rounded";
import type { Call } from "./calls";
import type { Inputs } from "./fields";
import { relation } from "./relation";
import type { Accounted } from "./types";

/** One number on screen. */
export interface Figure {
  /** Picks the colour: what is claimed, what is proven from below or above, or a plain answer. */
  readonly role: "claim" | "lower" | "upper" | "answer";
  readonly label: string;
  /** With its symbol and relation: `ε ≥ 4.0631`. */
  readonly value: string;
  /** Bound or estimate, and how sure: `lower bound, proven`. */
  readonly standing: string;
  readonly method?: string;
}

/** Points of the mini chart and of its table: ε at each noise multiplier, NaN where there is none. */
export interface Columns {
  readonly noiseMultipliers: Float64Array;
  readonly claimed: Float64Array;
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

export interface Answer<Result> {
  readonly figures: readonly Figure[];
  /** Plain sentences; the first is what a screen reader hears. */
  readonly sentences: readonly string[];
  /** A small table under the figures. */
  readonly table?: {
    readonly title: string;
    readonly head: readonly string[];
    readonly rows: readonly (readonly string[])[];
  };
  readonly result: Result;
}

export interface Calculator<Settings, Result> {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly fields: Inputs;
  answer(call: Call, settings: Settings): Promise<Answer<Result>>;
  command(settings: Settings): string;
  /** Curves that do not depend on the noise multiplier, where the calculator draws some. */
  columns?(
    call: Call,
    settings: Settings,
    isWanted: () => boolean,
    show: (columns: Columns) => void,
  ): Promise<void>;
}

const NAMES = { upper: "upper bound", lower: "lower bound", estimate: "estimate" } as const;

/** An accounted ε as a figure. */
export function figureOf(role: Figure["role"], label: string, found: Accounted): Figure {
  const { kind, epsilon, significance, method } = found;
  const sure = significance === undefined ? "proven" : `${confidence(significance)} confidence`;
  const standing = kind === "estimate" ? "estimate, without coverage" : `${NAMES[kind]}, ${sure}`;
  return {
    role,
    label,
    value: relation("ε", SIGN[kind], rounded(epsilon, kind)),
    standing,
    method: methodInWords(method),
  };
}
