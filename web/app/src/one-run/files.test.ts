import { expect, test } from "vitest";
import { missing, type RunRole, roleOf } from "./files";

test("files are recognised by their names", () => {
  const roles: Record<string, RunRole | undefined> = {
    "scores.npy": "scores",
    "losses.csv": "scores",
    "coins.npy": "coins",
    "My-Coins.NPZ": "coins",
    "baseline.npy": "baseline",
    "plan.json": "plan",
    "seed.secret": "seed",
    "commitment.txt": "commitment",
    "nonce.txt": "nonce",
    "audited.txt": "audited",
    "canaries.npz": "canaries",
    "canary-scores.npy": "scores",
    "sets.npy": "sets",
    "base_data.npz": "base_data",
    "null_scores.npy": "null_scores",
    "pool-scores.csv": "pool_scores",
    "scores_10.npy": "scores",
    "readme.md": undefined,
    constructor: undefined,
  };
  for (const [name, role] of Object.entries(roles)) expect(roleOf(name), name).toBe(role);
});

test("what is missing is named", () => {
  const of = (...roles: RunRole[]) => missing(new Set(roles));
  expect(of()).toContain("appear here");
  expect(of("coins")).toContain("scores");
  expect(of("scores")).toContain("coins");
  expect(of("scores", "plan")).toContain("seed.secret");
  expect(of("scores", "plan", "seed")).toContain("commitment.txt");
  expect(of("scores", "coins")).toBeUndefined();
  expect(of("scores", "null_scores")).toBeUndefined();
  expect(of("scores", "pool_scores")).toBeUndefined();
  expect(of("scores", "plan", "seed", "commitment")).toBeUndefined();
});
