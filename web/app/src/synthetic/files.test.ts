import { expect, test } from "vitest";
import { type CanaryRole, missing, roleOf } from "./canary-files";
import { WorldFiles } from "./world-files";

const file = (name: string, size = 1) => ({ name, size }) as File;

test("files of canaries are recognised by their names", () => {
  const roles: Record<string, CanaryRole | undefined> = {
    "manifest.toml": "columns",
    "Columns.TOML": "columns",
    "canaries.csv": "canaries",
    "canaries.npy": "canary_array",
    "0000.csv": "released",
    "coins.npy": "coins",
    "my-coins.csv": "coins",
    "plan.json": "plan",
    "seed.secret": "seed",
    "commitment.txt": "commitment",
    "readme.md": undefined,
    constructor: undefined,
  };
  for (const [name, role] of Object.entries(roles)) expect(roleOf(name), name).toBe(role);
});

test("what is missing of canaries is named", () => {
  const of = (...roles: CanaryRole[]) => missing(new Set(roles));
  expect(of()).toContain("appear here");
  expect(of("canaries")).toContain("manifest.toml");
  expect(of("columns")).toContain("canaries.csv");
  expect(of("columns", "canaries")).toContain("released");
  const scored = ["columns", "canaries", "released"] as const;
  expect(of(...scored)).toContain("plan.json");
  expect(of(...scored, "plan")).toContain("seed.secret");
  expect(of(...scored, "plan", "seed")).toContain("commitment.txt");
  expect(of(...scored, "plan", "seed", "commitment")).toBeUndefined();
  expect(of(...scored, "coins")).toBeUndefined();
});

test("runs are in the order of their numbers, and other files are left out", () => {
  const files = new WorldFiles();
  files.set(
    "with",
    ["10.csv", "9.csv", "2.stderr", "3.failed", "9.retried"].map((name) => file(name)),
  );
  expect(files.runs.with.map(({ name }) => name)).toEqual([
    "3.failed",
    "9.csv",
    "9.retried",
    "10.csv",
  ]);
  expect(files.waitsFor).toContain("without");
  files.set("without", [file("0.csv"), file("1.csv")]);
  expect(files.waitsFor).toContain("manifest.toml");
  files.setManifest([file("notes.txt")]);
  expect(files.refused).toContain(".toml");
  files.setManifest([file("seed-check.txt"), file("manifest.toml")]);
  expect(files.refused).toBeUndefined();
  expect([files.manifest?.name, files.seedCheck?.name]).toEqual([
    "manifest.toml",
    "seed-check.txt",
  ]);
  expect(files.waitsFor).toBeUndefined();
});

test("one table for each world is one of features", () => {
  const files = new WorldFiles();
  files.set("with", [file("a.csv")]);
  files.set("without", [file("b.csv")]);
  expect(files.isFeatures).toBe(true);
  expect(files.waitsFor).toBeUndefined();
  files.setManifest([file("manifest.toml")]);
  expect(files.isFeatures).toBe(false);
  files.clear();
  expect(files.isEmpty).toBe(true);
});

test("too many or too large files are refused", () => {
  const files = new WorldFiles();
  files.set("with", [file("a.csv", 2 ** 29)]);
  expect(files.refused).toContain("256 MiB");
  expect(files.runs.with).toEqual([]);
  files.set(
    "with",
    Array.from({ length: 20_001 }, (_, run) => file(`${run}.csv`)),
  );
  expect(files.refused).toContain("20,000");
  files.set("with", [file("1.retried")]);
  expect(files.refused).toContain("ends in .csv");
  files.set("with", [file("a.txt")]);
  expect(files.refused).toContain("ends in .csv");
});
