import type { Training } from "@dpscope/wasm/calculators";
import type { State } from "../state/fields";

export function settingOf(state: State): Training {
  const { noise_multiplier, steps, epochs } = state;
  return { noise_multiplier, steps, epochs };
}

/** Equal for states with the same theory. */
export function keyOf(state: State): string {
  const { noise_multiplier, steps, epochs, delta } = state;
  return [noise_multiplier, steps, epochs, delta].join(" ");
}

export function pairKeyOf(state: State): string {
  return [keyOf(state), state.seed, state.significance].join(" ");
}
