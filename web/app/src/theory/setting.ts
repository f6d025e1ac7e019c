import type { Training } from "@dpscope/wasm/calculators";
import type { State } from "../state/fields";
import { drawsSubsets } from "../state/samplers";

export function settingOf(state: State): Training {
  const { noise_multiplier, steps, epochs } = state;
  if (state.sampler !== "random-allocation") return { noise_multiplier, steps, epochs };
  return { noise_multiplier, steps, epochs, sampling_rate: state.uses_per_epoch / steps };
}

/** The neighbours of the bounds, where there is a choice. */
export function adjacencyOf({ sampler, adjacency }: State): State["adjacency"] | undefined {
  return sampler === "fixed-size" ? adjacency : undefined;
}

/** Equal for states with the same theory. */
export function keyOf(state: State): string {
  const { noise_multiplier, steps, epochs, delta } = state;
  const parts = [noise_multiplier, steps, epochs, delta];
  return drawsSubsets(state.sampler) ? [...parts, ...subsetsOf(state)].join(" ") : parts.join(" ");
}

/** What else determines the theory of uniform subsets. */
function subsetsOf({ sampler, uses_per_epoch, adjacency }: State): (string | number)[] {
  return [sampler, sampler === "fixed-size" ? adjacency : uses_per_epoch];
}

export function pairKeyOf(state: State): string {
  return [keyOf(state), state.seed, state.significance].join(" ");
}
