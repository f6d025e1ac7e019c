import { expect, test } from "vitest";
import { areRivals, isRepeated, pathOf, pathsOf, roleOf, rolesOf, UNKNOWN, UNUSED } from "./roles";

test.each([
  [
    "one-run",
    {
      "scores.npy": "scores",
      "Scores_1.NPY": "scores",
      "scores_10.npy": "scores",
      "canary-scores.npy": "scores",
      "canaries_scores.npy": "scores",
      "losses.csv": UNKNOWN,
      "coins.npy": "coins",
      "My-Coins.NPZ": "coins",
      "coinsurance.npy": UNKNOWN,
      "baseline.npy": "baseline",
      "canaries.npz": "canaries",
      "canaries.csv": "canaries",
      "sets.npy": "sets",
      "base data.npz": "base_data",
      "null-scores.csv": "null_scores",
      "pool_scores.npz": "pool_scores",
      "plan.json": "plan",
      "seed.secret": "plan",
      "commitment.txt": "plan",
      "nonce.txt": "plan",
      "audited.txt": "plan",
      "direction.npy": UNKNOWN,
      "readme.md": UNUSED,
      "scores.png": UNUSED,
      constructor: UNUSED,
    },
  ],
  [
    "federated",
    {
      "cosines.csv": "cosines",
      "initial.safetensors": "initial",
      "model-final.NPZ": "final",
      "final-2.safetensors": "final",
      "final_cosines.npy": "cosines",
      "control_cosines.npy": "cosines",
      "Control.safetensors": "control",
      "unseen.csv": "unseen",
      "Plan.json": "plan",
      "server-round.npy": UNKNOWN,
      "canaries.csv": UNKNOWN,
      "readme.md": UNUSED,
    },
  ],
  ["scores", { "zero-out.csv": "zero_out", "my target.npz": "target", "plan.json": UNKNOWN }],
] as const)("files of %s are recognised by words in their names", (command, roles) => {
  for (const [name, role] of Object.entries(roles)) expect(roleOf(command, name), name).toBe(role);
});

test("canaries for people are not used with a plan", () => {
  for (const command of ["one-run", "federated"] as const) {
    expect(roleOf(command, "Canaries.csv", true)).toBe(UNUSED);
  }
  expect(roleOf("one-run", "canaries.npz", true)).toBe("canaries");
  expect([...pathsOf("one-run", [{ name: "canaries.csv", role: UNUSED }])]).toEqual([]);
});

test("an option that takes one file has rivals", () => {
  expect(areRivals("scores", "target", "target+zero_out")).toBe(true);
  expect(areRivals("scores", "target", "zero_out")).toBe(false);
  expect(areRivals("one-run", "scores", "scores")).toBe(false);
  expect(areRivals("one-run", UNUSED, UNUSED)).toBe(false);
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
