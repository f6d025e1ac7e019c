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
  Command as TwoWorldsCommand,
} from "@dpscope/wasm/training";
import {
  CanaryAudit,
  CanaryCounter,
  CanaryOptimiser,
  Command,
  FederatedCounter,
  FederatedTrainingAudit,
  initSync,
} from "@dpscope/wasm/training_canaries";
import { beforeAll, expect, test } from "vitest";
import { CHECKPOINT_FILE } from "../app/src/copies/command";
import { CANARY_FILE, resumeCommand } from "../app/src/copies/trained";
import { assigned, commandsOf } from "./calls";

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

/** Noise, batches and seed of every training. */
const DPSGD = "--records 100 --batch-size 20 --epochs 2 --noise-multiplier 0.3 --seed 5";
const NAMES = { data: "mine.csv" };

/** Records with a client each, and a label that a model can learn. */
const CSV = [
  "label,user,x,y,z",
  ...Array.from({ length: 400 }, (_, row) =>
    [row % 3, row % 40, (row % 3) + 0.1 * (row % 7), row % 5, row % 2].join(","),
  ),
].join("\n");
const bytes = () => new TextEncoder().encode(CSV);
const [twoWorlds, commandOf] = [commandsOf(TwoWorldsCommand), commandsOf(Command)];

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
  const words = `audit dpsgd --data ${NAMES.data} ${DPSGD} --runs 40`.split(" ");
  const command = () => twoWorlds(words, { [NAMES.data]: CSV });
  const audit = Audit.of_training(command());
  const state = saved(audit, TrainingCounter.open(audit.layout(), command()));
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
  const optimised = "canaries optimise --count 20 --metasteps 2 --out canaries.npz --seed 3";
  const optimiser = CanaryOptimiser.open(commandOf(`${optimised} --relaxed`.split(" ")));
  optimiser.step();
  optimiser.step();
  const line = `audit dpsgd --protocol one-run --data location-like ${DPSGD}`;
  const words = `${line} --canary-file ${CANARY_FILE} --repeats 8`.split(" ");
  const command = () => commandOf(words, { [CANARY_FILE]: optimiser.file() });
  const audit = CanaryAudit.planned(command());
  const state = saved(audit, CanaryCounter.open(audit.layout(), command()));
  const page = audit.report(undefined, 1).report.bounds[0];
  const given = { [CHECKPOINT_FILE]: state, [CANARY_FILE]: optimiser.file() };
  const { bounds } = ran(resumeCommand({}, CANARY_FILE), given);
  expect(bounds[0].guesses).toBe(page?.guesses);
  expect(bounds[0].epsilon).toBeCloseTo(page?.epsilon ?? Number.NaN, 9);
  expect(ran(resumeCommand(), given)).toContain("--canary-file");
});

resumed("federated, with the clients of a column and correlated noise", () => {
  const words = [
    `audit fedavg --data ${NAMES.data} --client-column user --rounds 8`,
    "--participation min-separation:2 --local-epochs 1 --noise-multiplier 0.5",
    "--noise-mechanism banded:4 --design poisson:30 --attack known-rounds --repeats 4 --seed 5",
  ];
  const command = () => commandOf(words.join(" ").split(" "), { [NAMES.data]: CSV });
  const audit = FederatedTrainingAudit.planned(command());
  const state = saved(audit, FederatedCounter.open(audit.layout(), command()));
  const { report } = audit.report(undefined, 1);
  const given = { [CHECKPOINT_FILE]: state, [NAMES.data]: bytes() };
  const found = ran(resumeCommand(NAMES), given);
  expect(found.design.inserted).toBe(report.design.inserted);
  expect(found.bounds.epsilon).toBeCloseTo(report.bounds.epsilon, 2);
  expect(found.training.description.settings.noise_mechanism).toEqual({ kind: "banded", bands: 4 });
  expect(ran(resumeCommand(), given)).toContain("pass that file with --data");
});
