import type { State } from "../state/fields";

/** What a file of an audit of cosines contains. */
export type FederatedRole = "cosines" | "unseen" | "plan" | "seed" | "commitment" | "audited";

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
  return lower.includes("unseen") ? "unseen" : "cosines";
}

/** What is missing before an audit can start. */
export function missing(
  roles: ReadonlySet<FederatedRole>,
  state: Pick<State, "fed_parameters" | "fed_attacker" | "fed_server_rounds">,
): string | undefined {
  if (roles.size === 0) return "Your result will appear here";
  if (!roles.has("cosines")) return "Now add the cosines";
  if (roles.has("plan")) {
    if (!roles.has("seed")) return "Now add seed.secret of the plan";
    return roles.has("commitment") ? undefined : "Now add commitment.txt of the plan";
  }
  if (state.fed_parameters === undefined) {
    return "Now enter the number of trained parameters, or add the files of the plan";
  }
  return state.fed_attacker === "all_updates" && state.fed_server_rounds === undefined
    ? "Now enter the number of server rounds"
    : undefined;
}
