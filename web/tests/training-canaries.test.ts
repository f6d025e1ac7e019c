/** Trainings with canaries of the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import {
  CanaryAudit,
  CanaryCounter,
  type CanaryScoreBin,
  Command,
  canary_training_overview,
  initSync,
} from "@dpscope/wasm/training_canaries";
import { beforeAll, expect, test } from "vitest";
import { canaryTrainingWords } from "../app/src/copies/trained";
import type { CanaryTrainingQuestion } from "../app/src/training/question";
import { assigned, commandsOf, thrown, withOptions } from "./calls";
import native from "./training_canaries.json" with { type: "json" };

const ROWS = native as unknown as {
  claim?: number;
  asked: CanaryTrainingQuestion;
  arguments: string[];
  bound: { epsilon: number; guesses: number; correct: number };
  auc: number;
  correct_share: number;
  /** The AUC of each training. */
  repeats: number[];
}[];
const [FIRST] = ROWS;
const WORDS = FIRST?.arguments ?? [];
const commandOf = commandsOf(Command);

beforeAll(() => {
  const wasm = new URL(
    "../wasm/training_canaries/dpscope_training_canaries_bg.wasm",
    import.meta.url,
  );
  initSync({ module: readFileSync(wasm) });
});

/** The audit by counters that train so many models at a time, the last ones first. */
function audited(words: readonly string[], size: number): CanaryAudit {
  const audit = CanaryAudit.planned(commandOf(words));
  const counter = CanaryCounter.open(audit.layout(), commandOf(words));
  for (const { first, end } of assigned(audit, size).reverse()) {
    audit.add(counter.count(first, end));
  }
  return audit;
}

test("reports are those of the program, however models are divided", () => {
  for (const [at, row] of ROWS.entries()) {
    const { claim, bound, auc, correct_share, repeats } = row;
    const audit = audited(row.arguments, at === 0 ? 1 : 1e6);
    const { report, text } = audit.report(claim, 1);
    expect(report.bounds[0]).toMatchObject(bound);
    expect(report.auc).toBeCloseTo(auc, 3);
    expect(report.training?.correct_share).toBeCloseTo(correct_share, 3);
    for (const [repeat, { auc }] of report.training?.repeats.entries() ?? []) {
      expect(auc).toBeCloseTo(repeats[repeat] ?? 0, 2);
    }
    expect(report.claim?.epsilon).toBe(claim);
    expect(text).toContain("trained");
    expect(audit.so_far()).toMatchObject({ ...bound, repeats: repeats.length, failed: 0 });
  }
});

test("another seed, and another noise, are other trainings", () => {
  for (const change of [{ "--seed": "6" }, { "--noise-multiplier": "0.31" }]) {
    const { report } = audited(withOptions(WORDS, change), 1e6).report(undefined, 1);
    expect(Math.abs((report.auc ?? 0) - (FIRST?.auc ?? 0))).toBeGreaterThan(1e-3);
  }
});

test("a watched model ends with the scores that the audit has", () => {
  const words = withOptions(WORDS, { "--repeats": "1" });
  const audit = audited(words, 1);
  const looks = CanaryCounter.open(audit.layout(), commandOf(words)).watch(0);
  expect(looks.map(({ steps }) => steps)).toEqual(Array.from({ length: 21 }, (_, step) => step));
  const sum = (world: 0 | 1) => (bins: readonly CanaryScoreBin[]) =>
    bins.reduce((sum, { canaries }) => sum + (canaries[world] ?? 0), 0);
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined) throw new Error("no looks");
  expect(sum(0)(first.bins) + sum(1)(first.bins)).toBe(80);
  expect(sum(0)(last.bins)).toBe(sum(0)(audit.so_far().bins));
  expect(last.auc).toBe(audit.so_far().auc);
});

test("saved models continue, and a report needs all of them", () => {
  const audit = CanaryAudit.planned(commandOf(WORDS));
  const counter = CanaryCounter.open(audit.layout(), commandOf(WORDS));
  const { first, end } = audit.assign(5) ?? { first: 0, end: 0 };
  audit.add(counter.count(first, end));
  expect(thrown(() => audit.report(undefined, 1))).toMatchObject({ kind: "input" });
  const resumed = CanaryAudit.from_bytes(audit.to_bytes());
  expect(resumed.progress()).toEqual({ done: 5, total: 12 });
  const again = CanaryCounter.open(resumed.layout(), commandOf(WORDS));
  for (const { first, end } of assigned(resumed, 100)) resumed.add(again.count(first, end));
  expect(resumed.report(undefined, 1).report.bounds[0]).toMatchObject(FIRST?.bound ?? {});
  const damaged = audit.to_bytes();
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
  expect(thrown(() => CanaryAudit.from_bytes(damaged))).toMatchObject({ kind: "file" });
});

test("models of another training are refused", () => {
  const audit = CanaryAudit.planned(commandOf(WORDS));
  const words = withOptions(WORDS, { "--canaries": "81" });
  const other = CanaryAudit.planned(commandOf(words));
  audit.assign(2);
  const counted = CanaryCounter.open(other.layout(), commandOf(words)).count(0, 2);
  expect(thrown(() => audit.add(counted))).toMatchObject({ kind: "file" });
});

test("canaries are from the reader's data, which workers must have too", () => {
  const rows = Array.from({ length: 300 }, (_, row) => `${row % 3},${row % 7},${row % 2},${row}`);
  const words = withOptions(WORDS, { "--data": "mine.csv" });
  const of = (from: number) => commandOf(words, { "mine.csv": rows.slice(from).join("\n") });
  expect(canary_training_overview(of(0))).toMatchObject({
    data: "mine.csv",
    records: 120,
    held_out: 100,
    classes: 3,
  });
  const layout = CanaryAudit.planned(of(0)).layout();
  const refused = (call: () => unknown) => expect(thrown(call)).toMatchObject({ kind: "file" });
  refused(() => CanaryCounter.open(layout, commandOf(words)));
  refused(() => CanaryCounter.open(layout, of(50)));
  const said = (call: () => unknown, message: string) =>
    expect(thrown(call)).toMatchObject({ message: expect.stringContaining(message) });
  said(() => CanaryAudit.planned(of(150)), "mine.csv");
  const many = withOptions(WORDS, { "--canaries": "200" });
  said(() => canary_training_overview(commandOf(many)), "200 canaries; an audit needs at least 5");
});

test("the page asks with the words whose results are stored", () => {
  for (const { asked, claim, arguments: words } of ROWS) {
    expect(canaryTrainingWords(asked, {}, claim)).toEqual(words);
  }
});
