/** What the page saves is resumed by the program, by the command that the page shows, from the same files. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Audit,
  initSync as initTraining,
  TrainingCounter,
  DataFiles as TrainingFiles,
  type TrainingQuestion,
} from "@dpscope/wasm/training";
import {
  CanaryAudit,
  CanaryCounter,
  CanaryOptimiser,
  type CanaryTrainingQuestion,
  DataFiles,
  FederatedCounter,
  FederatedTrainingAudit,
  type FederatedTrainingQuestion,
  initSync,
} from "@dpscope/wasm/training_canaries";
import { beforeAll, expect, test } from "vitest";
import { CHECKPOINT_FILE } from "../app/src/copies/command";
import { CANARY_FILE, resumeCommand } from "../app/src/copies/trained";
import { assigned } from "./calls";

/** Built by the tests of the workspace, which are executed before. */
const PROGRAM =
  process.env.DPSCOPE_PROGRAM ??
  fileURLToPath(
    new URL(
      `../../target/debug/dpscope${process.platform === "win32" ? ".exe" : ""}`,
      import.meta.url,
    ),
  );
const resumed = test.skipIf(!existsSync(PROGRAM));

const STATISTICS = { delta: 1e-5, significance: 0.05, seed: "5" };
const MECHANISM = {
  noise_multiplier: 0.3,
  steps: 5,
  epochs: 2,
  sampler: "shuffle",
  batch_size: 20,
} as const;
const NAMES = { data: "mine.csv" };

/** Records with a client each, and a label that a model can learn. */
const CSV = [
  "label,user,x,y,z",
  ...Array.from({ length: 400 }, (_, row) =>
    [row % 3, row % 40, (row % 3) + 0.1 * (row % 7), row % 5, row % 2].join(","),
  ),
].join("\n");
const bytes = () => new TextEncoder().encode(CSV);

beforeAll(() => {
  const module = (feature: string) =>
    readFileSync(new URL(`../wasm/${feature}/dpscope_${feature}_bg.wasm`, import.meta.url));
  initTraining({ module: module("training") });
  initSync({ module: module("training_canaries") });
});

interface Resumable {
  assign(size: number): { first: number; end: number } | undefined;
  add(counted: Uint8Array): void;
  to_bytes(): Uint8Array;
}

/** Saves an audit when half of it is done, and completes it in the page. */
function saved(audit: Resumable, counter: { count(first: number, end: number): Uint8Array }) {
  const ranges = assigned(audit, 2);
  const half = ranges.length >> 1;
  const count = (part: typeof ranges) => {
    for (const { first, end } of part) audit.add(counter.count(first, end));
  };
  count(ranges.slice(0, half));
  const state = audit.to_bytes();
  count(ranges.slice(half));
  return state;
}

/** The report of the command in a folder with these files, or what it prints as it fails. */
function ran(command: string, files: Record<string, Uint8Array>) {
  const folder = mkdtempSync(join(tmpdir(), "dpscope-"));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const [, ...words] = command.split(" ");
    const options = { cwd: folder, encoding: "utf8", stdio: "pipe" } as const;
    return JSON.parse(execFileSync(PROGRAM, [...words, "--device", "cpu", "--json"], options));
  } catch (failure) {
    return String((failure as { stderr?: unknown }).stderr ?? failure);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

resumed("two worlds, on the reader's data", () => {
  const asked: TrainingQuestion = {
    plan: {
      mechanism: { ...MECHANISM, threat_model: "partially-informed" },
      observations: 40,
      ...STATISTICS,
    },
    model: "mlp",
  };
  const files = () => new TrainingFiles(NAMES.data, bytes());
  const audit = Audit.of_training(asked, files());
  const state = saved(audit, TrainingCounter.open(audit.layout(), files()));
  const page = audit.training_report(undefined, 1).report.result;
  const given = { [CHECKPOINT_FILE]: state, [NAMES.data]: bytes() };
  expect(ran(resumeCommand(NAMES), given).result).toMatchObject({
    epsilon: page.epsilon,
    false_positives: page.false_positives,
    false_negatives: page.false_negatives,
  });
  expect(ran(resumeCommand(), given)).toContain("pass that file with --data");
});

resumed("one run, with canaries that the page has optimised", () => {
  const asked: CanaryTrainingQuestion = {
    mechanism: MECHANISM,
    model: "mlp",
    data: "location-like",
    canaries: 20,
    canary_kind: "optimised",
    repeats: 8,
    ...STATISTICS,
  };
  const optimiser = CanaryOptimiser.open({ canaries: 20, metasteps: 2, seed: "3" });
  optimiser.step();
  optimiser.step();
  const files = () => {
    const files = DataFiles.none();
    files.set_canaries(optimiser.canaries, optimiser.labels);
    return files;
  };
  const audit = CanaryAudit.planned(asked, files());
  const state = saved(audit, CanaryCounter.open(audit.layout(), files()));
  const page = audit.report(undefined, 1).report.bounds[0];
  const given = { [CHECKPOINT_FILE]: state, [CANARY_FILE]: optimiser.file() };
  const { bounds } = ran(resumeCommand({}, CANARY_FILE), given);
  expect(bounds[0].guesses).toBe(page?.guesses);
  expect(bounds[0].epsilon).toBeCloseTo(page?.epsilon ?? Number.NaN, 9);
  expect(ran(resumeCommand(), given)).toContain("--canary-file");
});

resumed("federated, with the clients of a column and correlated noise", () => {
  const asked: FederatedTrainingQuestion = {
    model: "mlp",
    client_column: "user",
    rounds: 8,
    participation: "min-separation",
    epochs: 2,
    local_epochs: 1,
    noise_multiplier: 0.5,
    noise_mechanism: "banded",
    bands: 4,
    canaries: 30,
    attack: "known-rounds",
    repeats: 4,
    ...STATISTICS,
  };
  const files = () => new DataFiles(NAMES.data, bytes());
  const audit = FederatedTrainingAudit.planned(asked, files());
  const state = saved(audit, FederatedCounter.open(audit.layout(), files()));
  const { report } = audit.report(undefined, 1);
  const given = { [CHECKPOINT_FILE]: state, [NAMES.data]: bytes() };
  const found = ran(resumeCommand(NAMES), given);
  expect(found.design.inserted).toBe(report.design.inserted);
  expect(found.bounds.epsilon).toBeCloseTo(report.bounds.epsilon, 2);
  expect(found.training.description.settings.noise_mechanism).toEqual({ kind: "banded", bands: 4 });
  expect(ran(resumeCommand(), given)).toContain("pass that file with --data");
});
