import type { Accounted } from "@dpscope/wasm/calculators";
import type { Sampler } from "../state/fields";

/** Lines of the table of what is claimed, proven and seen. */
export type LineName =
  | "poisson"
  | "balls-in-bins"
  | "shuffle-sum"
  | "shuffle-max-slice"
  | "persistent-shuffle"
  | "pair-lower"
  | "pair-estimate"
  | "deterministic";

/** A value, why there is none, or nothing yet. */
export type Found = { value: Accounted; observations?: number; seed?: string } | { reason: string };
export type Lines = Partial<Record<LineName, Found>>;

export type Colour = "poisson" | "attack" | "deterministic" | "audit" | "claim" | "plain";

interface AboutLine {
  title: string;
  says: string;
  colour: Colour;
}

export const LINE: Record<LineName, AboutLine> = {
  poisson: {
    title: "Poisson accounting",
    says: "what is usually claimed",
    colour: "poisson",
  },
  "balls-in-bins": {
    title: "Balls-in-bins",
    says: "a sampler that keeps fixed steps",
    colour: "plain",
  },
  "shuffle-sum": { title: "Shuffled, sum", says: "seen in the sum of outputs", colour: "attack" },
  "shuffle-max-slice": {
    title: "Shuffled, max-slice",
    says: "seen in the largest output",
    colour: "attack",
  },
  "persistent-shuffle": {
    title: "Persistently shuffled",
    says: "one order for all epochs",
    colour: "attack",
  },
  "pair-lower": { title: "Exact pair, limit", says: "drawn, at least", colour: "audit" },
  "pair-estimate": { title: "Exact pair, estimate", says: "drawn, about", colour: "audit" },
  deterministic: {
    title: "No shuffling at all",
    says: "no way to shuffle leaks more",
    colour: "deterministic",
  },
};

const ALWAYS: readonly LineName[] = ["poisson", "balls-in-bins"];

/** The lines that say something about a sampler, in the order of the table. */
export function linesOf(sampler: Sampler): readonly LineName[] {
  const proven = ["shuffle-sum", "shuffle-max-slice"] as const;
  switch (sampler) {
    case "shuffle":
      return [...ALWAYS, ...proven, "pair-lower", "pair-estimate", "deterministic"];
    case "batch-then-shuffle":
      return [...ALWAYS, ...proven, "deterministic"];
    case "persistent-shuffle":
      return [...ALWAYS, "persistent-shuffle", "deterministic"];
    case "poisson":
    case "balls-in-bins":
      return ALWAYS;
    default:
      return [...ALWAYS, "deterministic"];
  }
}

export function only(lines: Lines, names: readonly LineName[]): Lines {
  return Object.fromEntries(names.map((name) => [name, lines[name]]));
}

export function accountedOf(lines: Lines, name: LineName): Accounted | undefined {
  const found = lines[name];
  return found !== undefined && "value" in found ? found.value : undefined;
}
