import type { Mechanism, SamplerKind, ThreatModel } from "@dpscope/wasm/audits";
import { explore, samplers as facts } from "../../../numbers/words.json";
import type { LineName } from "../numbers/lines";
import { audit_bgm } from "../options/options.json";
import { fieldsOf } from "../options/table";

type Parameter = "buffer_examples" | "uses_per_epoch" | "max_batch_size";

export type { ThreatModel };
export type Sampler = SamplerKind;

interface Named {
  name: string;
  says: string;
  /** The lines of Explore, in the order of the table. */
  lines: readonly LineName[];
}

const options = fieldsOf<Mechanism>(audit_bgm);

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

/** Fields of the parameters that only some samplers have, beside the field that names the sampler. */
export function parametersOf(sampler: string) {
  const shown = (parameter: Parameter) => {
    const having = ALL.filter((name) => FACTS[name].parameter === parameter);
    return { onlyFor: [sampler, ...having] } as const;
  };
  return {
    buffer: options.optional("buffer_examples", {
      ...shown("buffer_examples"),
      label: "Shuffle buffer size",
    }),
    uses: options.optional("uses_per_epoch", {
      ...shown("uses_per_epoch"),
      label: "Batches with a record, per epoch",
      symbol: "k",
      help: "Each record is in k of the T batches of each epoch",
    }),
    maxBatch: options.optional("max_batch_size", {
      ...shown("max_batch_size"),
      label: "Most records of a batch",
      symbol: "Bₘ",
      help: "Of more records that are drawn, a uniform subset is kept",
    }),
  };
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

/** A field to choose a sampler, the program's default at first. */
export function samplerField<S extends Sampler>(label: string, values: readonly S[]) {
  const options = values.map((value) => [value, NAMES[value].name] as const);
  const says = Object.fromEntries(values.map((value) => [value, NAMES[value].says]));
  const initial = audit_bgm.sampler.default as S;
  return { kind: "choice", label, options, says, initial } as const;
}
