/** Federated trainings of the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import {
  DataFiles,
  FederatedCounter,
  FederatedTrainingAudit,
  type FederatedTrainingQuestion,
  federated_training_overview,
  initSync,
} from "@dpscope/wasm/training_canaries";
import { beforeAll, expect, test } from "vitest";
import { federatedTrainingCommand } from "../app/src/copies/trained";
import { assigned, thrown } from "./calls";
import native from "./training_federated.json" with { type: "json" };

const ROWS = native as unknown as {
  asked: FederatedTrainingQuestion;
  claim?: number;
  arguments: string[];
  epsilon: number;
  inserted: number;
  mean_scores: (number | null)[];
  accounted: number | null;
}[];
const [FIRST] = ROWS;

beforeAll(() => {
  const wasm = new URL(
    "../wasm/training_canaries/dpscope_training_canaries_bg.wasm",
    import.meta.url,
  );
  initSync({ module: readFileSync(wasm) });
});

/** The audit by counters that execute so many trainings at a time, the last ones first. */
function audited(asked: FederatedTrainingQuestion, size: number): FederatedTrainingAudit {
  const audit = FederatedTrainingAudit.planned(asked);
  const counter = FederatedCounter.open(audit.layout());
  for (const { first, end } of assigned(audit, size).reverse()) {
    audit.add(counter.count(first, end));
  }
  return audit;
}

test("reports are those of the program within rounding, however trainings are divided", () => {
  for (const [at, row] of ROWS.entries()) {
    const audit = audited(row.asked, at === 0 ? 1 : 1e6);
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
    const { accounted } = federated_training_overview(row.asked);
    if (row.accounted === null) expect(accounted).toBeNull();
    else expect(accounted).toBeCloseTo(row.accounted, 9);
  }
});

test("another seed, and another noise, are other trainings", () => {
  const asked = FIRST?.asked as FederatedTrainingQuestion;
  for (const change of [{ seed: "6" }, { noise_multiplier: 0.31 }]) {
    const { report } = audited({ ...asked, ...change }, 1e6).report(undefined, 1);
    const mean = report.training?.attacks[0]?.mean_score ?? 0;
    expect(Math.abs(mean - (FIRST?.mean_scores[0] ?? 0))).toBeGreaterThan(1e-2);
  }
});

test("a watched training ends with the scores that the audit has", () => {
  const asked = { ...(FIRST?.asked as FederatedTrainingQuestion), repeats: 1 };
  const audit = audited(asked, 1);
  const looks = FederatedCounter.open(audit.layout()).watch(0);
  expect(looks.map(({ rounds }) => rounds)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const last = looks.at(-1);
  const { report } = audit.report(undefined, 1);
  expect(last?.mean_score).toBeCloseTo(report.training?.attacks[0]?.mean_score ?? 0, 9);
  const canaries = last?.bins.reduce((sum, bin) => sum + bin.canaries, 0);
  expect(canaries).toBe(report.design.inserted);
});

test("saved trainings continue, and a report needs all of them", () => {
  const asked = FIRST?.asked as FederatedTrainingQuestion;
  const audit = FederatedTrainingAudit.planned(asked);
  const counter = FederatedCounter.open(audit.layout());
  const { first, end } = audit.assign(2) ?? { first: 0, end: 0 };
  audit.add(counter.count(first, end));
  expect(thrown(() => audit.report(undefined, 1))).toMatchObject({ kind: "input" });
  const resumed = FederatedTrainingAudit.from_bytes(audit.to_bytes());
  expect(resumed.progress()).toEqual({ done: 2, total: 5 });
  const again = FederatedCounter.open(resumed.layout());
  for (const { first, end } of assigned(resumed, 100)) resumed.add(again.count(first, end));
  const { report } = resumed.report(undefined, 1);
  expect(report.bounds.epsilon).toBeCloseTo(FIRST?.epsilon ?? 0, 2);
  const damaged = audit.to_bytes();
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
  expect(thrown(() => FederatedTrainingAudit.from_bytes(damaged))).toMatchObject({ kind: "file" });
});

test("other data, and impossible trainings, name what to change", () => {
  const asked = FIRST?.asked as FederatedTrainingQuestion;
  const rows = Array.from({ length: 400 }, (_, row) => `${row % 3},${row % 7},${row % 2},${row}`);
  const files = (from: number) =>
    new DataFiles("mine.csv", new TextEncoder().encode(rows.slice(from).join("\n")));
  const layout = FederatedTrainingAudit.planned(asked, files(0)).layout();
  expect(thrown(() => FederatedCounter.open(layout))).toMatchObject({ field: "data" });
  expect(thrown(() => FederatedCounter.open(layout, files(50)))).toMatchObject({ field: "data" });
  expect(thrown(() => federated_training_overview(asked, files(250)))).toMatchObject({
    field: "data",
  });
  expect(thrown(() => federated_training_overview({ ...asked, rounds: 9 }))).toMatchObject({
    kind: "input",
    field: "epochs",
  });
});

test("commands are those whose results are stored", () => {
  for (const { asked, claim, arguments: words } of ROWS) {
    expect(federatedTrainingCommand(asked, {}, claim)).toBe(`dpscope ${words.join(" ")}`);
  }
});
