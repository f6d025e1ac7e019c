import type { SamplerKind, ThreatModel } from "@dpscope/wasm/audits";
import { explore, samplers as facts } from "../../../numbers/words.json";
import type { LineName } from "../numbers/lines";

type Parameter = "buffer_examples" | "uses_per_epoch" | "max_batch_size";

export type { ThreatModel };
export type Sampler = SamplerKind;

interface Named {
  name: string;
  says: string;
  /** The lines of Explore, in the order of the table. */
  lines: readonly LineName[];
}

const NAMES = explore.samplers as unknown as Readonly<Record<Sampler, Named>>;

/** The name of any sampler. */
export function samplerName(sampler: Sampler): string {
  return NAMES[sampler].name;
}

interface AboutSampler extends Named {
  /** Its batches, within a sentence. */
  batches: string;
  /** The threat models of its audits, the default first. */
  threat_models: readonly ThreatModel[];
  needs_batch_size: boolean;
  has_buffer: boolean;
  /** The parameter that other samplers do not have. */
  parameter: Parameter | null;
  /** Whether its bounds depend on what neighbours differ in. */
  has_adjacency: boolean;
  /** Whether its batches are uniform subsets, which a bundle of its own accounts for. */
  draws_subsets: boolean;
}

const FACTS = facts as unknown as Record<Sampler, Omit<AboutSampler, keyof Named>>;

export function about(sampler: Sampler): AboutSampler {
  return { ...NAMES[sampler], ...FACTS[sampler] };
}

export function drawsSubsets(sampler: Sampler): boolean {
  return FACTS[sampler].draws_subsets;
}

/** Whether a record is in several batches of an epoch, a number that is a parameter. */
export function hasUses(sampler: Sampler): boolean {
  return FACTS[sampler].parameter === "uses_per_epoch";
}

/** Whether records beyond a maximum batch size are dropped. */
export function truncates(sampler: Sampler): boolean {
  return FACTS[sampler].parameter === "max_batch_size";
}

export function hasAdjacency(sampler: Sampler): boolean {
  return FACTS[sampler].has_adjacency;
}

/** Every sampler, in the order of the menus. */
export const ALL = explore.menu as Sampler[];

/** Samplers as options of a field. */
export function samplers<S extends Sampler = Sampler>(
  values: readonly S[],
): (readonly [S, string])[] {
  return values.map((value) => [value, NAMES[value].name]);
}

export const THREAT_MODEL: Record<ThreatModel, { name: string; says: string }> = {
  "worst-case": { name: "Worst case", says: "the attacker chooses every record" },
  "partially-informed": {
    name: "Partially informed",
    says: "the attacker chooses one record of every batch",
  },
  "target-canary": { name: "Target canary", says: "the attacker chooses the target alone" },
};
