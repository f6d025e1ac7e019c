import type { AuditPlan } from "@dpscope/wasm/audits";
import type { State } from "../state/fields";
import { about } from "../state/samplers";

/** The audit plan of a state. */
export function planOf(state: State): AuditPlan {
  const { noise_multiplier, steps, epochs, sampler, threat_model } = state;
  const { observations, delta, significance, seed } = state;
  const facts = about(sampler);
  return {
    noise_multiplier,
    steps,
    epochs,
    sampler,
    threat_model,
    observations,
    delta,
    significance,
    seed,
    ...(facts.needs_batch_size ? { batch_size: state.batch_size } : {}),
    ...(facts.has_buffer ? { buffer_examples: state.buffer_examples } : {}),
  };
}

/** Whether the state has the same mechanism, δ and confidence. */
export function isSamePlan(plan: AuditPlan, state: State): boolean {
  const now = planOf(state);
  return (Object.keys(now) as (keyof AuditPlan)[]).every(
    (name) => name === "observations" || name === "seed" || plan[name] === now[name],
  );
}
