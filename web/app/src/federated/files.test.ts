import { expect, test } from "vitest";
import { type FederatedRole, missing, roleOf } from "./files";

test("files are recognised by their names", () => {
  const roles: Record<string, FederatedRole | undefined> = {
    "cosines.csv": "cosines",
    "Server-Round.NPY": "cosines",
    "initial.safetensors": "initial_model",
    "model-final.NPZ": "final_model",
    "final_cosines.npy": "cosines",
    "final.csv": "cosines",
    "c0_flat.npy": "control",
    "Control.safetensors": "control",
    "control_cosines.npy": "cosines",
    "unseen.csv": "unseen",
    "Plan.json": "plan",
    "seed.secret": "seed",
    "commitment.txt": "commitment",
    "audited.txt": "audited",
    "readme.md": undefined,
    constructor: undefined,
  };
  for (const [name, role] of Object.entries(roles)) expect(roleOf(name), name).toBe(role);
});

test("what is missing is named", () => {
  const nothing = {
    fed_parameters: undefined,
    fed_attacker: "final_model",
    fed_server_rounds: undefined,
    fed_control: undefined,
    fed_control_cosine: undefined,
  } as const;
  const of = (...roles: FederatedRole[]) => missing(new Set(roles), nothing);
  expect(of()).toContain("appear here");
  expect(of("plan")).toContain("cosines");
  expect(of("cosines")).toContain("trained parameters");
  expect(of("cosines", "plan")).toContain("seed.secret");
  expect(of("cosines", "plan", "seed")).toContain("commitment.txt");
  expect(of("cosines", "plan", "seed", "commitment")).toBeUndefined();
  expect(of("initial_model", "cosines")).toContain("Remove");
  expect(of("final_model")).toContain("initial model");
  expect(of("initial_model")).toContain("final model");
  expect(of("initial_model", "final_model")).toContain("plan.json");
  expect(of("initial_model", "final_model", "plan")).toContain("seed.secret");
  const whole = ["initial_model", "final_model", "plan", "seed", "commitment"] as const;
  expect(of(...whole)).toBeUndefined();
  const stated = { ...nothing, fed_parameters: 1000 };
  const cosines = new Set<FederatedRole>(["cosines"]);
  expect(missing(cosines, stated)).toBeUndefined();
  expect(missing(new Set(["cosines", "control"]), stated)).toContain("plan.json");
  const control = { ...stated, fed_control: "included" } as const;
  expect(missing(cosines, control)).toContain("cosine of the control client");
  expect(missing(cosines, { ...control, fed_control_cosine: 0 })).toBeUndefined();
  // models yield it
  expect(missing(new Set(whole), control)).toBeUndefined();
  const maximum = { ...stated, fed_attacker: "all_updates" } as const;
  expect(missing(cosines, maximum)).toContain("server rounds");
  expect(missing(cosines, { ...maximum, fed_server_rounds: 10 })).toBeUndefined();
});
