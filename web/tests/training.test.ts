/** Trainings of the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import {
  Audit,
  Command,
  initSync,
  TrainingCounter,
  training_overview,
} from "@dpscope/wasm/training";
import { beforeAll, expect, test } from "vitest";
import { trainingWords } from "../app/src/copies/trained";
import type { TrainingQuestion } from "../app/src/training/question";
import { assigned, commandsOf, thrown, withOptions } from "./calls";
import native from "./training.json" with { type: "json" };

const ROWS = native as unknown as {
  claim?: number;
  asked: TrainingQuestion;
  arguments: string[];
  result: { epsilon: number; false_positives: number; false_negatives: number };
  correct_share: number;
  /** Outputs of the first two runs of each world. */
  outputs: [number[][], number[][]];
}[];

const [FIRST, SECOND] = ROWS.map((row) => row.arguments) as [string[], string[]];
const commandOf = commandsOf(Command);

beforeAll(() => {
  const wasm = new URL("../wasm/training/dpscope_training_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

/** The audit by counters that train so many runs at a time, the last ones first. */
function audited(words: readonly string[], size: number): Audit {
  const audit = Audit.of_training(commandOf(words));
  const counter = counterOf(audit, words);
  for (const { first, end } of assigned(audit, size).reverse()) {
    audit.add(counter.count(first, end));
  }
  return audit;
}

function counterOf(
  audit: Audit,
  words: readonly string[],
  files?: Readonly<Record<string, string>>,
): TrainingCounter {
  return TrainingCounter.open(audit.layout(), commandOf(words, files));
}

test("outputs are those of the program within rounding, in the same batches", () => {
  for (const { arguments: words, outputs } of ROWS) {
    const counter = counterOf(Audit.of_training(commandOf(words)), words);
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
  for (const [at, { arguments: words, claim, result, correct_share }] of ROWS.entries()) {
    const { report, text } = audited(words, at === 0 ? 3 : 1e6).training_report(claim, 1);
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
  for (const change of [{ "--seed": "6" }, { "--noise-multiplier": "0.31" }]) {
    const words = withOptions(first.arguments, change);
    const found = counterOf(Audit.of_training(commandOf(words)), words).watch("target", 0).outputs;
    const away = found.map((output, step) =>
      Math.abs((output ?? 0) - (first.outputs[0][0]?.[step] ?? 0)),
    );
    expect(Math.max(...away)).toBeGreaterThan(2e-3);
  }
});

test("every training is in the histograms, beside what is expected", () => {
  const audit = Audit.of_training(commandOf(FIRST));
  const none = audit.scores();
  expect(none.length).toBeGreaterThan(20);
  expect(none.every(({ runs }) => runs[0] === 0 && runs[1] === 0)).toBe(true);
  const whole = audited(FIRST, 1e6);
  const sum = (of: (bin: (typeof none)[number]) => number) =>
    whole.scores().reduce((sum, bin) => sum + of(bin), 0);
  expect(sum(({ runs }) => runs[0] ?? 0)).toBe(30);
  expect(sum(({ runs }) => runs[1] ?? 0)).toBe(30);
  expect(sum(({ expected }) => expected[0] ?? 0)).toBeCloseTo(30, 6);
});

test("saved counts continue, and a report needs all runs", () => {
  const audit = Audit.of_training(commandOf(FIRST));
  const counter = counterOf(audit, FIRST);
  const { first, end } = audit.assign(5) ?? { first: 0, end: 0 };
  audit.add(counter.count(first, end));
  expect(thrown(() => audit.training_report(undefined, 1))).toMatchObject({ kind: "input" });
  const resumed = Audit.from_bytes(audit.to_bytes());
  expect(resumed.progress()).toEqual({ done: 10, total: 60 });
  const again = counterOf(resumed, FIRST);
  for (const { first, end } of assigned(resumed, 100)) resumed.add(again.count(first, end));
  expect(resumed.training_report(undefined, 1).report.result).toMatchObject(ROWS[0]?.result ?? {});
  const damaged = audit.to_bytes();
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
  expect(thrown(() => Audit.from_bytes(damaged))).toMatchObject({ kind: "file" });
});

test("evidence of another training is refused", () => {
  const audit = Audit.of_training(commandOf(FIRST));
  const counter = counterOf(Audit.of_training(commandOf(SECOND)), SECOND);
  audit.assign(2);
  expect(thrown(() => audit.add(counter.count(0, 2)))).toMatchObject({ kind: "file" });
});

test("a model is sized for the reader's data, which workers must have too", () => {
  const rows = Array.from({ length: 600 }, (_, row) => `${row % 3},${row % 7},${row % 2},${row}`);
  const words = withOptions(FIRST, { "--data": "mine.csv" });
  const files = (from: number) => ({ "mine.csv": rows.slice(from).join("\n") });
  expect(training_overview(commandOf(words, files(0)))).toMatchObject({
    data: "mine.csv",
    records: 400,
    held_out: 200,
    features: 3,
    classes: 3,
  });
  const audit = Audit.of_training(commandOf(words, files(0)));
  const refused = (call: () => unknown) => expect(thrown(call)).toMatchObject({ kind: "file" });
  refused(() => counterOf(audit, words));
  refused(() => counterOf(audit, words, files(50)));
  audit.add(counterOf(audit, words, files(0)).count(audit.assign(1)?.first ?? 0, 1));
  expect(audit.progress().done).toBe(2);
});

test("files that are no data set, and impossible trainings, name what to change", () => {
  const refused = (options: Record<string, string>, files = {}) =>
    thrown(() => training_overview(commandOf(withOptions(FIRST, options), files)));
  for (const bytes of [[], [80, 75, 3, 4], [60, 104, 116], [0, 0, 8, 3, 255, 255, 255, 255]]) {
    const files = { "x.idx": new Uint8Array(bytes) };
    expect(refused({ "--data": "x.idx" }, files)).toMatchObject({
      message: expect.stringContaining("x.idx"),
    });
  }
  for (const [option, value, message] of [
    ["--clip-norm", "-1", "--clip-norm"],
    ["--threat-model", "worst-case", "trains no model"],
    ["--learning-rate", "search", "too long for a page"],
    ["--model", "layers.toml", "is not mlp, lenet, cnn"],
    ["--protocol", "one-run", "another bundle"],
  ] as const) {
    const said = expect.objectContaining({ message: expect.stringContaining(message) });
    expect(refused({ [option]: value })).toEqual(said);
  }
  expect(refused({ "--model": "lenet" })).toMatchObject({ kind: "input" });
});

test("the page asks with the words whose results are stored", () => {
  for (const { asked, claim, arguments: words } of ROWS) {
    expect(trainingWords(asked, {}, claim)).toEqual(words);
  }
});
