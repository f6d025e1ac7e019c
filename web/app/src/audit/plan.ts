import type { AuditPlan } from "@dpscope/wasm/audits";
import type { State } from "../state/fields";
import { about, hasUses } from "../state/samplers";
import { truncationOf } from "../theory/setting";

/** The audit plan of a state. */
export function planOf(state: State): AuditPlan {
  const { noise_multiplier, steps, epochs, sampler, threat_model } = state;
  const { observations, delta, significance, seed } = state;
  const facts = about(sampler);
  const mechanism = {
    noise_multiplier,
    steps,
    epochs,
    sampler,
    threat_model,
    ...(facts.needs_batch_size ? { batch_size: state.batch_size } : {}),
    ...(facts.has_buffer ? { buffer_examples: state.buffer_examples } : {}),
    ...(hasUses(sampler) ? { uses_per_epoch: state.uses_per_epoch } : {}),
    ...truncationOf(state),
  };
  return { mechanism, observations, delta, significance, seed };
}

/** Whether the state has the same mechanism, δ and confidence. */
export function isSamePlan(plan: AuditPlan, state: State): boolean {
  const compared = ({ mechanism, delta, significance }: AuditPlan) =>
    JSON.stringify([mechanism, delta, significance]);
  return compared(plan) === compared(planOf(state));
}
