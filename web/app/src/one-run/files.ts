/** What a file of one run contains. */
export type RunRole =
  | "scores"
  | "coins"
  | "baseline"
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

/** What a file contains by its name; none where this page does not read it. */
export function roleOf(name: string): RunRole | undefined {
  const exact = Object.hasOwn(EXACT, name.toLowerCase()) ? EXACT[name.toLowerCase()] : undefined;
  if (exact !== undefined || !ARRAY.test(name)) return exact;
  if (/coins/i.test(name)) return "coins";
  if (/baseline/i.test(name)) return "baseline";
  return /canaries|sets/i.test(name) ? undefined : "scores";
}

/** Why a file is not read. */
export function notRead(name: string): string {
  return ARRAY.test(name)
    ? "Not read here: `dpscope audit one-run` takes it with --canaries or --sets."
    : "Not a file of this audit.";
}

/** What is missing before an audit can start. */
export function missing(roles: ReadonlySet<RunRole>): string | undefined {
  if (roles.size === 0) return "Your result will appear here";
  if (!roles.has("scores")) return "Now add the scores";
  if (roles.has("plan")) {
    if (!roles.has("seed")) return "Now add seed.secret of the plan";
    return roles.has("commitment") ? undefined : "Now add commitment.txt of the plan";
  }
  return roles.has("coins") ? undefined : "Now add the coins, or the files of the plan";
}
