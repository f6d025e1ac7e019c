/** Trainings of the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import {
  Audit,
  DataFiles,
  initSync,
  TrainingCounter,
  type TrainingQuestion,
  training_overview,
} from "@dpscope/wasm/training";
import { beforeAll, expect, test } from "vitest";
import { trainingCommand } from "../app/src/copies/trained";
import { assigned, thrown } from "./calls";
import native from "./training.json" with { type: "json" };

const ROWS = native as unknown as {
  asked: TrainingQuestion;
  claim?: number;
  arguments: string[];
  result: { epsilon: number; false_positives: number; false_negatives: number };
  correct_share: number;
  /** Outputs of the first two runs of each world. */
  outputs: [number[][], number[][]];
}[];

beforeAll(() => {
  const wasm = new URL("../wasm/training/dpscope_training_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

/** The audit by counters that train so many runs at a time, the last ones first. */
function audited(asked: TrainingQuestion, size: number): Audit {
  const audit = Audit.of_training(asked);
  const counter = TrainingCounter.open(audit.layout());
  for (const { first, end } of assigned(audit, size).reverse()) {
    audit.add(counter.count(first, end));
  }
  return audit;
}

test("outputs are those of the program within rounding, in the same batches", () => {
  for (const { asked, outputs } of ROWS) {
    const counter = TrainingCounter.open(Audit.of_training(asked).layout());
    for (const [index, world] of (["target", "zero-out"] as const).entries()) {
      for (const run of [0, 1]) {
        const watched = counter.watch(world, run);
        const expected = outputs[index]?.[run] ?? [];
        expect(watched.outputs.length).toBe(expected.length);
        const away = watched.outputs.map((output, step) =>
          Math.abs((output ?? Number.NaN) - (expected[step] ?? 0)),
        );
        // the tolerance of the self-test of devices
        expect(Math.max(...away)).toBeLessThan(2e-3);
      }
    }
  }
});

test("reports are those of the program, however runs are divided", () => {
  for (const [at, { asked, claim, result, correct_share }] of ROWS.entries()) {
    const { report, text } = audited(asked, at === 0 ? 3 : 1e6).training_report(claim, 1);
    expect(report.result).toMatchObject(result);
    expect(report.training?.correct_share).toBeCloseTo(correct_share, 3);
    expect(report.training?.idealised?.epsilon).toBeGreaterThanOrEqual(0);
    expect(report.claim?.epsilon).toBe(claim);
    expect(text).toContain("trained");
  }
});

test("another seed, and another noise, are other trainings", () => {
  const [first] = ROWS;
  if (first === undefined) throw new Error("nothing is stored");
  const { asked, outputs } = first;
  const other = (change: Partial<TrainingQuestion["plan"]>) =>
    TrainingCounter.open(
      Audit.of_training({ ...asked, plan: { ...asked.plan, ...change } }).layout(),
    ).watch("target", 0).outputs;
  const mechanism = { ...asked.plan.mechanism, noise_multiplier: 0.31 };
  for (const found of [other({ seed: "6" }), other({ mechanism })]) {
    const away = found.map((output, step) =>
      Math.abs((output ?? 0) - (outputs[0][0]?.[step] ?? 0)),
    );
    expect(Math.max(...away)).toBeGreaterThan(2e-3);
  }
});

test("every training is in the histograms, beside what is expected", () => {
  const asked = ROWS[0]?.asked as TrainingQuestion;
  const audit = Audit.of_training(asked);
  const none = audit.scores();
  expect(none.length).toBeGreaterThan(20);
  expect(none.every(({ runs }) => runs[0] === 0 && runs[1] === 0)).toBe(true);
  const whole = audited(asked, 1e6);
  const sum = (of: (bin: (typeof none)[number]) => number) =>
    whole.scores().reduce((sum, bin) => sum + of(bin), 0);
  expect(sum(({ runs }) => runs[0] ?? 0)).toBe(30);
  expect(sum(({ runs }) => runs[1] ?? 0)).toBe(30);
  expect(sum(({ expected }) => expected[0] ?? 0)).toBeCloseTo(30, 6);
});

test("saved counts continue, and a report needs all runs", () => {
  const asked = ROWS[0]?.asked as TrainingQuestion;
  const audit = Audit.of_training(asked);
  const counter = TrainingCounter.open(audit.layout());
  const { first, end } = audit.assign(5) ?? { first: 0, end: 0 };
  audit.add(counter.count(first, end));
  expect(thrown(() => audit.training_report(undefined, 1))).toMatchObject({ kind: "input" });
  const resumed = Audit.from_bytes(audit.to_bytes());
  expect(resumed.progress()).toEqual({ done: 10, total: 60 });
  const again = TrainingCounter.open(resumed.layout());
  for (const { first, end } of assigned(resumed, 100)) resumed.add(again.count(first, end));
  expect(resumed.training_report(undefined, 1).report.result).toMatchObject(ROWS[0]?.result ?? {});
  const damaged = audit.to_bytes();
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
  expect(thrown(() => Audit.from_bytes(damaged))).toMatchObject({ kind: "file" });
});

test("evidence of another training is refused", () => {
  const [one, other] = ROWS;
  const audit = Audit.of_training(one?.asked as TrainingQuestion);
  const counter = TrainingCounter.open(
    Audit.of_training(other?.asked as TrainingQuestion).layout(),
  );
  audit.assign(2);
  expect(thrown(() => audit.add(counter.count(0, 2)))).toMatchObject({ kind: "file" });
});

test("a model is sized for the reader's data, which workers must have too", () => {
  const rows = Array.from({ length: 600 }, (_, row) => `${row % 3},${row % 7},${row % 2},${row}`);
  const files = () => new DataFiles("mine.csv", new TextEncoder().encode(rows.join("\n")));
  const asked = ROWS[0]?.asked as TrainingQuestion;
  expect(training_overview(asked, files())).toMatchObject({
    data: "mine.csv",
    records: 400,
    held_out: 200,
    features: 3,
    classes: 3,
  });
  const audit = Audit.of_training(asked, files());
  const layout = audit.layout();
  expect(thrown(() => TrainingCounter.open(layout))).toMatchObject({ kind: "file", field: "data" });
  const other = new DataFiles("mine.csv", new TextEncoder().encode(rows.slice(50).join("\n")));
  expect(thrown(() => TrainingCounter.open(layout, other))).toMatchObject({ field: "data" });
  audit.add(TrainingCounter.open(layout, files()).count(audit.assign(1)?.first ?? 0, 1));
  expect(audit.progress().done).toBe(2);
});

test("files that are no data set, and impossible trainings, name what to change", () => {
  const asked = ROWS[0]?.asked as TrainingQuestion;
  for (const bytes of [[], [80, 75, 3, 4], [60, 104, 116], [0, 0, 8, 3, 255, 255, 255, 255]]) {
    const files = new DataFiles("x.idx", new Uint8Array(bytes));
    expect(thrown(() => training_overview(asked, files))).toMatchObject({ field: "data" });
  }
  const mechanism = { ...asked.plan.mechanism, threat_model: "worst-case" as const };
  const worst = { ...asked, plan: { ...asked.plan, mechanism } };
  expect(thrown(() => training_overview(worst))).toMatchObject({ field: "threat_model" });
  const lenet = { ...asked, model: "lenet", data: "location-like" };
  expect(thrown(() => training_overview(lenet))).toMatchObject({ kind: "input", field: "data" });
});

test("commands are those whose results are stored", () => {
  for (const { asked, claim, arguments: words } of ROWS) {
    expect(trainingCommand(asked, {}, claim)).toBe(`dpscope ${words.join(" ")}`);
  }
});
