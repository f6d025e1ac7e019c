/** What a file of an audit of canary rows contains. */
export type CanaryRole =
  | "columns"
  | "canaries"
  | "canary_array"
  | "released"
  | "coins"
  | "plan"
  | "seed"
  | "commitment"
  | "audited";

const EXACT: Readonly<Record<string, CanaryRole>> = {
  "canaries.csv": "canaries",
  "canaries.npy": "canary_array",
  "plan.json": "plan",
  "seed.secret": "seed",
  "commitment.txt": "commitment",
  "audited.txt": "audited",
};

/** What a file contains by its name; none where this page does not read it. */
export function roleOf(name: string): CanaryRole | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(EXACT, lower)) return EXACT[lower];
  if (lower.endsWith(".toml")) return "columns";
  if (/coins.*\.(csv|npy)$/.test(lower)) return "coins";
  return lower.endsWith(".csv") ? "released" : undefined;
}

/** What is missing before an audit can start. */
export function missing(roles: ReadonlySet<CanaryRole>): string | undefined {
  if (roles.size === 0) return "Your result will appear here";
  if (!roles.has("columns")) return "Now add manifest.toml, or a file of columns";
  if (!roles.has("canaries")) return "Now add canaries.csv";
  if (!roles.has("released")) return "Now add the rows that the run released";
  if (roles.has("coins")) return undefined;
  if (!roles.has("plan")) return "Now add plan.json of the committed plan, or the coins";
  if (!roles.has("seed")) return "Now add seed.secret of the plan";
  return roles.has("commitment") ? undefined : "Now add commitment.txt of the plan";
}
