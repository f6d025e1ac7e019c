import type { AuditPlan } from "@dpscope/wasm/audits";
import type { State } from "../state/fields";
import { SAMPLER } from "../state/samplers";

/** The audit plan of a state. */
export function planOf(state: State): AuditPlan {
  const { noise_multiplier, steps, epochs, sampler, threat_model } = state;
  const { observations, delta, significance, seed } = state;
  const about = SAMPLER[sampler];
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
    ...(about.needsBatchSize ? { batch_size: state.batch_size } : {}),
    ...(about.hasBuffer ? { buffer_examples: state.buffer_examples } : {}),
  };
}

/** Whether the state has the same mechanism, δ and confidence. */
export function isSamePlan(plan: AuditPlan, state: State): boolean {
  const now = planOf(state);
  return (Object.keys(now) as (keyof AuditPlan)[]).every(
    (name) => name === "observations" || name === "seed" || plan[name] === now[name],
  );
}
