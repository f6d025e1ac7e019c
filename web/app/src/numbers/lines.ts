import type { Accounted, KnownBound } from "@dpscope/wasm/calculators";
import { about, type Sampler } from "../state/samplers";

/** Lines of the table of claimed, proven and simulated values. */
export type LineName =
  | "poisson"
  | "balls-in-bins"
  | "shuffle-sum"
  | "shuffle-max-slice"
  | "persistent-shuffle"
  | "pair-lower"
  | "pair-estimate"
  | "deterministic"
  | "fixed-size"
  | "fixed-size-lower"
  | "random-allocation"
  | "random-allocation-lower"
  | "truncated-poisson"
  | "truncated-poisson-lower";

/** Lines of uniform subsets, of a bundle of their own. */
export const OF_SUBSETS: readonly LineName[] = [
  "fixed-size-lower",
  "fixed-size",
  "random-allocation-lower",
  "random-allocation",
  "truncated-poisson-lower",
  "truncated-poisson",
];

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

export const LINE: Record<LineName, AboutLine> = {
  poisson: {
    title: "Poisson accounting",
    says: "the usual claim",
    colour: "poisson",
  },
  "balls-in-bins": {
    title: "Balls-in-bins",
    says: "a sampler with fixed steps",
    colour: "plain",
  },
  "shuffle-sum": {
    title: "Shuffled, sum",
    says: "from the sum of outputs",
    colour: "attack",
  },
  "shuffle-max-slice": {
    title: "Shuffled, max-slice",
    says: "from the largest output",
    colour: "attack",
  },
  "persistent-shuffle": {
    title: "Persistently shuffled",
    says: "one order for all epochs",
    colour: "attack",
  },
  "pair-lower": {
    title: "Worst-case pair",
    says: "simulated, best available",
    colour: "audit",
  },
  "pair-estimate": { title: "Worst-case pair", says: "simulated estimate", colour: "audit" },
  deterministic: {
    title: "No shuffling at all",
    says: "bounds every shuffle, zero-out",
    colour: "deterministic",
  },
  "fixed-size-lower": {
    title: "Fixed size, at least",
    says: "of the worst known data set",
    colour: "attack",
  },
  "fixed-size": {
    title: "Fixed size, at most",
    says: "for every data set",
    colour: "deterministic",
  },
  "random-allocation-lower": {
    title: "Random allocation, at least",
    says: "of a sum over the steps",
    colour: "attack",
  },
  "random-allocation": {
    title: "Random allocation, at most",
    says: "from balls in bins",
    colour: "deterministic",
  },
  "truncated-poisson-lower": {
    title: "Truncated Poisson, at least",
    says: "of the worst known data set",
    colour: "attack",
  },
  "truncated-poisson": {
    title: "Truncated Poisson, at most",
    says: "for every data set",
    colour: "deterministic",
  },
};

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
