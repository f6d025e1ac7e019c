/** What a file of one run contains. */
export type RunRole =
  | "scores"
  | "coins"
  | "sets"
  | "baseline"
  | "canaries"
  | "base_data"
  | "null_scores"
  | "pool_scores"
  | "plan"
  | "seed"
  | "commitment"
  | "nonce"
  | "audited";

const EXACT: Readonly<Record<string, RunRole>> = {
  "plan.json": "plan",
  "seed.secret": "seed",
  "commitment.txt": "commitment",
  "nonce.txt": "nonce",
  "audited.txt": "audited",
};

const ARRAY = /\.(npy|npz|csv|safetensors)$/i;

/** What an array contains, by a part of its file's name; the first that fits. */
const NAMED: readonly [RegExp, RunRole][] = [
  [/coins/i, "coins"],
  [/baseline/i, "baseline"],
  [/base[-_ ]?data/i, "base_data"],
  [/null/i, "null_scores"],
  [/pool/i, "pool_scores"],
  [/scores/i, "scores"],
  [/canaries/i, "canaries"],
  [/sets/i, "sets"],
];

/** What a file contains by its name; none where this page does not read it. */
export function roleOf(name: string): RunRole | undefined {
  const exact = Object.hasOwn(EXACT, name.toLowerCase()) ? EXACT[name.toLowerCase()] : undefined;
  if (exact !== undefined || !ARRAY.test(name)) return exact;
  return NAMED.find(([part]) => part.test(name))?.[1] ?? "scores";
}

/** What is missing before an audit can start. */
export function missing(roles: ReadonlySet<RunRole>): string | undefined {
  if (roles.size === 0) return "Your result will appear here";
  if (!roles.has("scores")) return "Now add the scores";
  if (roles.has("plan")) {
    if (!roles.has("seed")) return "Now add seed.secret of the plan";
    return roles.has("commitment") ? undefined : "Now add commitment.txt of the plan";
  }
  if (roles.has("null_scores") || roles.has("pool_scores")) return undefined;
  return roles.has("coins")
    ? undefined
    : "Now add the coins, the files of the plan, or scores of canaries that were not included";
}
