import type { Accounted, Cell, SamplerKind } from "@dpscope/wasm/studies";
import document from "../../../numbers/published.json";
import { linkToTraining } from "../copies/link";
import type { State } from "../state/fields";

/** A published training: a row of `dpscope reproduce published --json`. */
export interface PublishedRow {
  name: string;
  source: { title: string; url: string; place: string };
  noise_multiplier: number;
  steps: number;
  epochs: number;
  partial_epoch_steps: number;
  dataset_size: number | null;
  batch_size: number | null;
  delta: number;
  claimed: string;
  claimed_epsilon: number;
  accountant: string;
  ran: SamplerKind | null;
  ran_note: string | null;
  remark: string | null;
  unverified: string[];
  poisson: Cell;
  claim: "equal" | "larger" | "smaller" | "unknown";
  shuffle_lower: Cell;
  pair_lower: Accounted | null;
  shuffle_over_claim: number | null;
}

export const rows = document.rows as unknown as readonly PublishedRow[];

/** The largest lower bound of shuffled batches. */
export function leastLeak({ shuffle_lower, pair_lower }: PublishedRow): Accounted | undefined {
  const formula = "reason" in shuffle_lower ? undefined : shuffle_lower;
  return (pair_lower?.epsilon ?? 0) > (formula?.epsilon ?? 0) ? (pair_lower ?? undefined) : formula;
}

/** Whether shuffled batches leak more than was claimed. */
export function isExceeded({ shuffle_over_claim }: PublishedRow): boolean {
  return (shuffle_over_claim ?? 0) > 1;
}

/** The training in Explore with shuffled batches; none for an incomplete epoch, which Explore lacks. */
export function exploreLink(state: State, row: PublishedRow): string | undefined {
  if (row.partial_epoch_steps !== 0) return undefined;
  const { noise_multiplier, steps, epochs, delta } = row;
  return linkToTraining(state, { noise_multiplier, steps, epochs, delta }, "shuffle");
}
