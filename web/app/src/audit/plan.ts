import type { AuditPlan } from "@dpscope/wasm/audits";
import { FIELDS, type State } from "../state/fields";
import { recordOf, statisticsOf } from "../state/records";
import { about } from "../state/samplers";
import { truncationOf } from "../theory/setting";

const { buffer_examples, uses_per_epoch } = FIELDS;

/** The audit plan of a state. */
export function planOf(state: State): AuditPlan {
  const { noise_multiplier, steps, epochs, sampler, threat_model } = state;
  const mechanism = {
    noise_multiplier,
    steps,
    epochs,
    sampler,
    ...recordOf(state, { buffer_examples, uses_per_epoch }),
    ...(about(sampler).needs_batch_size ? { batch_size: state.batch_size } : {}),
    ...truncationOf(state),
    threat_model,
  };
  return { mechanism, observations: state.observations, ...statisticsOf(state) };
}

/** Whether the state has the same mechanism, δ and confidence. */
export function isSamePlan(plan: AuditPlan, state: State): boolean {
  const compared = ({ mechanism, delta, significance }: AuditPlan) =>
    JSON.stringify([mechanism, delta, significance]);
  return compared(plan) === compared(planOf(state));
}
