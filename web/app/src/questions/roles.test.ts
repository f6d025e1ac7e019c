import { expect, test } from "vitest";
import { isRepeated, pathOf, pathsOf, roleOf, rolesOf } from "./roles";

test("files are recognised by how their names begin", () => {
  const roles = {
    "scores.npy": "scores",
    "Scores_1.NPY": "scores",
    "null-scores.csv": "null_scores",
    "pool_scores.npz": "pool_scores",
    "coins.npy": "coins",
    "canaries.npz": "canaries",
    "base data.npz": "base_data",
    "plan.json": "plan",
    "seed.secret": "plan",
    "audited.txt": "plan",
    "losses.csv": "",
    "direction.npy": "",
    constructor: "",
  };
  for (const [name, role] of Object.entries(roles)) expect(roleOf("one-run", name)).toBe(role);
  expect(roleOf("scores", "zero-out.csv")).toBe("zero_out");
  expect(roleOf("federated", "final-2.safetensors")).toBe("final");
  expect(roleOf("federated", "canaries.csv")).toBe("");
  expect(roleOf("scores", "plan.json")).toBe("");
});

test("lists, plans and unknown files may be several", () => {
  const repeated = ["scores", "coins", "plan", ""].map((role) => isRepeated("one-run", role));
  expect(repeated).toEqual([true, false, true, true]);
});

test("a reader selects among options that read files, or all that are required", () => {
  expect(rolesOf("scores")).toEqual([
    ["target", "Target"],
    ["zero_out", "Zero out"],
    ["target+zero_out", "Target and Zero out"],
  ]);
  expect(rolesOf("counts")).toEqual([]);
  expect(rolesOf("one-run").map(([role]) => role)).toContain("canaries");
});

test("one file may be of both worlds", () => {
  const files = [{ name: "-both.npz", role: "target+zero_out" }];
  const path = ["./-both.npz"];
  expect([...pathsOf("scores", files)]).toEqual([
    ["target", path],
    ["zero_out", path],
  ]);
});

test("files of a plan are in its folder, coins only if it is there", () => {
  const coins = { name: "coins.npy", role: "coins" };
  const scores = ["scores_1.npy", "scores_2.npy"].map((name) => ({ name, role: "scores" }));
  const plan = ["Plan.json", "seed.secret"].map((name) => ({ name, role: "plan" }));
  const all = [coins, ...plan, ...scores];
  expect([...pathsOf("one-run", all)]).toEqual([
    ["plan", ["plan"]],
    ["scores", ["scores_1.npy", "scores_2.npy"]],
  ]);
  expect(all.map((file) => pathOf("one-run", file, all)).slice(0, 3)).toEqual([
    "plan/coins.npy",
    "plan/plan.json",
    "plan/seed.secret",
  ]);
  expect([...pathsOf("one-run", [coins])]).toEqual([["coins", ["coins.npy"]]]);
});
