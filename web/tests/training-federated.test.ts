/** Federated trainings of the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import {
  Command,
  FederatedCounter,
  FederatedTrainingAudit,
  federated_training_overview,
  initSync,
} from "@dpscope/wasm/training_canaries";
import { beforeAll, expect, test } from "vitest";
import { federatedTrainingWords } from "../app/src/copies/trained";
import type { FederatedTrainingQuestion } from "../app/src/training/question";
import { assigned, commandsOf, thrown, withOptions } from "./calls";
import native from "./training_federated.json" with { type: "json" };

const ROWS = native as unknown as {
  claim?: number;
  asked: FederatedTrainingQuestion;
  arguments: string[];
  epsilon: number;
  inserted: number;
  mean_scores: (number | null)[];
  accounted: number | null;
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

/** The audit by counters that execute so many trainings at a time, the last ones first. */
function audited(words: readonly string[], size: number): FederatedTrainingAudit {
  const audit = FederatedTrainingAudit.planned(commandOf(words));
  const counter = FederatedCounter.open(audit.layout(), commandOf(words));
  for (const { first, end } of assigned(audit, size).reverse()) {
    audit.add(counter.count(first, end));
  }
  return audit;
}

test("reports are those of the program within rounding, however trainings are divided", () => {
  for (const [at, row] of ROWS.entries()) {
    const audit = audited(row.arguments, at === 0 ? 1 : 1e6);
    const { report, text } = audit.report(row.claim, 1);
    expect(report.bounds.epsilon).toBeCloseTo(row.epsilon, 2);
    expect(report.design.inserted).toBe(row.inserted);
    const means = report.training?.attacks.map(({ mean_score }) => mean_score) ?? [];
    for (const [attack, mean] of row.mean_scores.entries()) {
      if (mean === null) expect(means[attack]).toBeNull();
      else expect(means[attack]).toBeCloseTo(mean, 3);
    }
    expect(report.claim?.epsilon).toBe(row.claim);
    expect(text).toContain("trained");
    expect(audit.so_far()).toMatchObject({ canaries: row.inserted, failed: 0 });
    expect(audit.so_far().epsilon).toBe(report.bounds.epsilon);
    const { accounted } = federated_training_overview(commandOf(row.arguments));
    if (row.accounted === null) expect(accounted).toBeNull();
    else expect(accounted).toBeCloseTo(row.accounted, 9);
  }
});

test("another seed, and another noise, are other trainings", () => {
  for (const change of [{ "--seed": "6" }, { "--noise-multiplier": "0.31" }]) {
    const { report } = audited(withOptions(WORDS, change), 1e6).report(undefined, 1);
    const mean = report.training?.attacks[0]?.mean_score ?? 0;
    expect(Math.abs(mean - (FIRST?.mean_scores[0] ?? 0))).toBeGreaterThan(1e-2);
  }
});

test("a watched training ends with the scores that the audit has", () => {
  const words = withOptions(WORDS, { "--repeats": "1" });
  const audit = audited(words, 1);
  const looks = FederatedCounter.open(audit.layout(), commandOf(words)).watch(0);
  expect(looks.map(({ rounds }) => rounds)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const last = looks.at(-1);
  const { report } = audit.report(undefined, 1);
  expect(last?.mean_score).toBeCloseTo(report.training?.attacks[0]?.mean_score ?? 0, 9);
  const canaries = last?.bins.reduce((sum, bin) => sum + bin.canaries, 0);
  expect(canaries).toBe(report.design.inserted);
});

test("saved trainings continue, and a report needs all of them", () => {
  const audit = FederatedTrainingAudit.planned(commandOf(WORDS));
  const counter = FederatedCounter.open(audit.layout(), commandOf(WORDS));
  const { first, end } = audit.assign(2) ?? { first: 0, end: 0 };
  audit.add(counter.count(first, end));
  expect(thrown(() => audit.report(undefined, 1))).toMatchObject({ kind: "input" });
  const resumed = FederatedTrainingAudit.from_bytes(audit.to_bytes());
  expect(resumed.progress()).toEqual({ done: 2, total: 5 });
  const again = FederatedCounter.open(resumed.layout(), commandOf(WORDS));
  for (const { first, end } of assigned(resumed, 100)) resumed.add(again.count(first, end));
  const { report } = resumed.report(undefined, 1);
  expect(report.bounds.epsilon).toBeCloseTo(FIRST?.epsilon ?? 0, 2);
  const damaged = audit.to_bytes();
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
  expect(thrown(() => FederatedTrainingAudit.from_bytes(damaged))).toMatchObject({ kind: "file" });
});

test("other data, and impossible trainings, name what to change", () => {
  const rows = Array.from({ length: 400 }, (_, row) => `${row % 3},${row % 7},${row % 2},${row}`);
  const words = withOptions(WORDS, { "--data": "mine.csv" });
  const of = (from: number) => commandOf(words, { "mine.csv": rows.slice(from).join("\n") });
  const layout = FederatedTrainingAudit.planned(of(0)).layout();
  const refused = (call: () => unknown) => expect(thrown(call)).toMatchObject({ kind: "file" });
  refused(() => FederatedCounter.open(layout, commandOf(words)));
  refused(() => FederatedCounter.open(layout, of(50)));
  const said = (call: () => unknown, message: string) =>
    expect(thrown(call)).toMatchObject({ message: expect.stringContaining(message) });
  said(() => federated_training_overview(of(250)), "mine.csv");
  const rounds = withOptions(WORDS, { "--rounds": "9" });
  said(() => federated_training_overview(commandOf(rounds)), "--participation");
});

test("the page asks with the words whose results are stored", () => {
  for (const { asked, claim, arguments: words } of ROWS) {
    expect(federatedTrainingWords(asked, {}, claim)).toEqual(words);
  }
});
