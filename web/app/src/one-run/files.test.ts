import { expect, test } from "vitest";
import { missing, notRead, type RunRole, roleOf } from "./files";

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
    "canaries.npz": undefined,
    "sets.npy": undefined,
    "readme.md": undefined,
    constructor: undefined,
  };
  for (const [name, role] of Object.entries(roles)) expect(roleOf(name), name).toBe(role);
  expect(notRead("canaries.npz")).toContain("--canaries");
  expect(notRead("readme.md")).not.toContain("--canaries");
});

test("what is missing is named", () => {
  const of = (...roles: RunRole[]) => missing(new Set(roles));
  expect(of()).toContain("appear here");
  expect(of("coins")).toContain("scores");
  expect(of("scores")).toContain("coins");
  expect(of("scores", "plan")).toContain("seed.secret");
  expect(of("scores", "plan", "seed")).toContain("commitment.txt");
  expect(of("scores", "coins")).toBeUndefined();
  expect(of("scores", "plan", "seed", "commitment")).toBeUndefined();
});
