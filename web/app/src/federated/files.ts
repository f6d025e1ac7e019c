import type { State } from "../state/fields";

/** What a file of an audit of canary clients contains. */
export type FederatedRole =
  | "cosines"
  | "initial_model"
  | "final_model"
  | "unseen"
  | "control"
  | "plan"
  | "seed"
  | "commitment"
  | "audited";

const OF_MODELS = /\.(npy|npz|safetensors)$/;

const EXACT: Readonly<Record<string, FederatedRole>> = {
  "plan.json": "plan",
  "seed.secret": "seed",
  "commitment.txt": "commitment",
  "audited.txt": "audited",
};

/** What a file contains by its name; none where this page does not read it. */
export function roleOf(name: string): FederatedRole | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(EXACT, lower)) return EXACT[lower];
  if (!/\.(npy|npz|csv|safetensors)$/.test(lower)) return undefined;
  if (OF_MODELS.test(lower) && !lower.includes("cosine")) {
    if (/control|flat/.test(lower)) return "control";
    if (lower.includes("initial")) return "initial_model";
    if (lower.includes("final")) return "final_model";
  }
  return lower.includes("unseen") ? "unseen" : "cosines";
}

/** What is missing before an audit can start. */
export function missing(
  roles: ReadonlySet<FederatedRole>,
  state: Pick<
    State,
    "fed_parameters" | "fed_attacker" | "fed_server_rounds" | "fed_control" | "fed_control_cosine"
  >,
): string | undefined {
  if (roles.size === 0) return "Your result will appear here";
  const hasModels = roles.has("initial_model") || roles.has("final_model");
  if (roles.has("cosines") && hasModels) return "Remove the cosines, or the models";
  if (hasModels) {
    if (!roles.has("initial_model")) return "Now add the initial model";
    if (!roles.has("final_model")) return "Now add the final model";
    if (!roles.has("plan")) return "Now add plan.json: directions follow from a committed plan";
  } else if (!roles.has("cosines"))
    return "Now add the cosines, or the initial and the final model";
  else if (state.fed_control !== undefined && state.fed_control_cosine === undefined) {
    return "Now enter the cosine of the control client";
  }
  if (roles.has("plan")) {
    if (!roles.has("seed")) return "Now add seed.secret of the plan";
    return roles.has("commitment") ? undefined : "Now add commitment.txt of the plan";
  }
  if (roles.has("control")) {
    return "Now add plan.json, whose direction of canary 0 the control must have";
  }
  if (state.fed_parameters === undefined) {
    return "Now enter the number of trained parameters, or add the files of the plan";
  }
  return state.fed_attacker === "all_updates" && state.fed_server_rounds === undefined
    ? "Now enter the number of server rounds"
    : undefined;
}
