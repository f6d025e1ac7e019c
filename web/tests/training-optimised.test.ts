/** Canaries that the browser's bundle moves are those of the program, and their audit is the same. */

import { readFileSync } from "node:fs";
import {
  CanaryAudit,
  CanaryCounter,
  CanaryOptimiser,
  type CanaryOptimizationQuestion,
  type CanaryTrainingQuestion,
  canary_training_overview,
  DataFiles,
  initSync,
} from "@dpscope/wasm/training_canaries";
import { beforeAll, expect, test } from "vitest";
import { canaryTrainingCommand, optimizationCommand } from "../app/src/copies/trained";
import { assigned, thrown } from "./calls";
import native from "./training_optimised.json" with { type: "json" };

const { optimisation, lenet, audit } = native as unknown as {
  optimisation: {
    asked: CanaryOptimizationQuestion;
    arguments: string[];
    objectives: number[];
    aucs: number[];
  };
  lenet: { asked: CanaryOptimizationQuestion; arguments: string[]; objectives: [number] };
  audit: { asked: CanaryTrainingQuestion; arguments: string[]; epsilon: number };
};

beforeAll(() => {
  const wasm = new URL(
    "../wasm/training_canaries/dpscope_training_canaries_bg.wasm",
    import.meta.url,
  );
  initSync({ module: readFileSync(wasm) });
});

function moved(asked: CanaryOptimizationQuestion) {
  const optimiser = CanaryOptimiser.open(asked);
  const steps = [optimiser.step()];
  while (steps.at(-1)?.is_finished === false) steps.push(optimiser.step());
  return { optimiser, steps };
}

function filesOf(optimiser: CanaryOptimiser): DataFiles {
  const files = DataFiles.none();
  files.set_canaries(optimiser.canaries, optimiser.labels);
  return files;
}

test("steps are those of the program, and the audit of the canaries is too", () => {
  const { optimiser, steps } = moved(optimisation.asked);
  expect(steps.length).toBe(optimisation.objectives.length);
  for (const [at, { objective }] of steps.entries()) {
    expect(objective).toBeCloseTo(optimisation.objectives[at] ?? 0, 2);
  }
  const aucs = steps.flatMap(({ auc }) => auc ?? []);
  expect(aucs.length).toBe(optimisation.aucs.length);
  for (const [at, auc] of aucs.entries()) expect(auc).toBeCloseTo(optimisation.aucs[at] ?? 0, 1);
  const planned = CanaryAudit.planned(audit.asked, filesOf(optimiser));
  const counter = CanaryCounter.open(planned.layout(), filesOf(optimiser));
  for (const { first, end } of assigned(planned, 5)) planned.add(counter.count(first, end));
  const { report } = planned.report(undefined, 1);
  expect(Math.abs((report.bounds[0]?.epsilon ?? 0) - audit.epsilon)).toBeLessThan(0.3);
});

test("the objective of LeNet-5 is that of the program", () => {
  const objective = (seed?: string) => {
    const asked = { ...lenet.asked, ...(seed === undefined ? {} : { seed }) };
    return (CanaryOptimiser.open(asked).step().objective ?? 0) / lenet.objectives[0];
  };
  expect(Math.abs(objective() - 1)).toBeLessThan(0.02);
  expect(Math.abs(objective("4") - 1)).toBeGreaterThan(0.1);
});

test("canaries are moved within the range of the features, and another seed moves others", () => {
  const asked = { ...optimisation.asked, metasteps: 2 };
  const first = CanaryOptimiser.open(asked);
  const start = first.shown(2);
  expect(start.length).toBe(2 * first.features);
  first.step();
  expect(first.shown(2)).not.toEqual(start);
  const [low = 0, high = 0] = first.range;
  expect(first.shown(40).every((value) => value >= low && value <= high)).toBe(true);
  expect(CanaryOptimiser.open({ ...asked, seed: "4" }).shown(2)).not.toEqual(start);
  expect([...first.file().slice(0, 2)]).toEqual([80, 75]);
});

test("a saved optimisation continues with the same canaries", () => {
  const asked = { ...optimisation.asked, metasteps: 3 };
  const whole = CanaryOptimiser.open(asked);
  whole.step();
  const continued = CanaryOptimiser.open(asked, undefined, whole.to_bytes());
  expect(continued.shown(40)).toEqual(whole.shown(40));
  expect(continued.step()).toEqual(whole.step());
  expect(continued.shown(40)).toEqual(whole.shown(40));
  const damaged = thrown(() => CanaryOptimiser.open(asked, undefined, new Uint8Array([80, 75])));
  expect(damaged).toMatchObject({ kind: "file" });
});

test("an audit needs as many canaries, in the coordinator and in every worker", () => {
  const { optimiser } = moved({ ...optimisation.asked, metasteps: 1 });
  const refused = { kind: "input", field: "canaries" };
  expect(thrown(() => canary_training_overview(audit.asked))).toMatchObject(refused);
  const fewer = { ...audit.asked, canaries: 39 };
  expect(thrown(() => CanaryAudit.planned(fewer, filesOf(optimiser)))).toMatchObject(refused);
  const layout = CanaryAudit.planned(audit.asked, filesOf(optimiser)).layout();
  expect(thrown(() => CanaryCounter.open(layout))).toMatchObject(refused);
  const other = moved({ ...optimisation.asked, metasteps: 1, seed: "4" }).optimiser;
  expect(thrown(() => CanaryCounter.open(layout, filesOf(other)))).toMatchObject({ field: "data" });
});

test("impossible optimisations name what to change", () => {
  const open = (change: Partial<CanaryOptimizationQuestion>) =>
    thrown(() => CanaryOptimiser.open({ ...optimisation.asked, ...change }));
  expect(open({ metasteps: 0 })).toMatchObject({ kind: "input", field: "metasteps" });
  expect(open({ canaries: 3 })).toMatchObject({ kind: "input" });
  expect(open({ data: "mine" })).toMatchObject({ kind: "file", field: "data" });
  expect(open({ model: "cnn" })).toMatchObject({ kind: "input", field: "model" });
  expect(open({ steps: 0 })).toMatchObject({ kind: "input", field: "steps" });
  expect(open({ steps: 1e9 })).toMatchObject({ kind: "limit", field: "steps" });
});

test("commands are those whose results are stored", () => {
  const optimised = `dpscope ${optimisation.arguments.join(" ")}`;
  expect(optimizationCommand(optimisation.asked, {})).toBe(optimised);
  expect(optimizationCommand(lenet.asked, {})).toBe(`dpscope ${lenet.arguments.join(" ")}`);
  const audited = `dpscope ${audit.arguments.join(" ")}`;
  expect(canaryTrainingCommand(audit.asked, {}, undefined)).toBe(audited);
});
