import type { Accounted, KnownBound } from "@dpscope/wasm/calculators";
import { bounds, explore } from "../../../numbers/words.json";
import { about, type Sampler } from "../state/samplers";

/** Lines of the table of claimed, proven and simulated values. */
export type LineName = Exclude<KnownBound, "shuffle-best">;

/** How long a line takes: of uniform subsets, in a bundle of their own. */
type Cost = "fast" | "slow" | "subsets" | "draws";

interface BoundFacts {
  cost: Cost;
  kind: Accounted["kind"];
  /** The sampler whose ε it bounds. */
  sampler: Sampler;
}

const BOUNDS = bounds as unknown as Readonly<Record<LineName, BoundFacts>>;

/** What is known of a line before it is computed. */
export function factsOf(name: LineName): BoundFacts {
  return BOUNDS[name];
}

/** Every line. */
export const LINES = Object.keys(BOUNDS) as LineName[];

/** The lines of one cost. */
export function linesThatAre(cost: Cost): LineName[] {
  return LINES.filter((name) => BOUNDS[name].cost === cost);
}

/** A value, or why there is none. */
export type LineResult =
  | { value: Accounted; observations?: number; seed?: string }
  | { reason: string; field?: string };
export type Lines = Partial<Record<LineName, LineResult>>;

export type Colour =
  | "poisson"
  | "attack"
  | "deterministic"
  | "audit"
  | "claim"
  | "plain"
  | "expected";

interface AboutLine {
  title: string;
  says: string;
  colour: Colour;
}

/** The title of a line, what it is, and its colour by what it proves. */
export function aboutLine(name: LineName): AboutLine {
  return { ...explore.lines[name], colour: colourOf(name) };
}

function colourOf(name: LineName): Colour {
  if (name === "poisson") return "poisson";
  const { cost, kind } = BOUNDS[name];
  if (cost === "draws") return "audit";
  if (cost === "slow") return "plain";
  return kind === "lower" ? "attack" : "deterministic";
}

/** The lines that apply to a sampler, in the order of the table. */
export function linesOf(sampler: Sampler): readonly LineName[] {
  return about(sampler).lines;
}

/** ε of each line that a conclusion can rest on. */
export function epsilonsOf(lines: Lines): { [bound in KnownBound]?: number } {
  const { "pair-estimate": _, ...bounds } = lines;
  const names = Object.keys(bounds) as LineName[];
  return Object.fromEntries(names.map((name) => [name, accountedOf(lines, name)?.epsilon]));
}

export function only(lines: Lines, names: readonly LineName[]): Lines {
  return Object.fromEntries(names.map((name) => [name, lines[name]]));
}

export function accountedOf(lines: Lines, name: LineName): Accounted | undefined {
  const found = lines[name];
  return found !== undefined && "value" in found ? found.value : undefined;
}
