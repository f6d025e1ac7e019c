/** Canaries that the browser's bundle moves are those of the program, and their audit is the same. */

import { readFileSync } from "node:fs";
import {
  CanaryAudit,
  CanaryCounter,
  CanaryOptimiser,
  Command,
  canary_training_overview,
  initSync,
} from "@dpscope/wasm/training_canaries";
import { beforeAll, expect, test } from "vitest";
import { CANARY_FILE, canaryTrainingWords, optimizationWords } from "../app/src/copies/trained";
import type {
  CanaryOptimizationQuestion,
  CanaryTrainingQuestion,
} from "../app/src/training/question";
import { assigned, commandsOf, thrown, withOptions } from "./calls";
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
const commandOf = commandsOf(Command);

beforeAll(() => {
  const wasm = new URL(
    "../wasm/training_canaries/dpscope_training_canaries_bg.wasm",
    import.meta.url,
  );
  initSync({ module: readFileSync(wasm) });
});

function moved(words: readonly string[]) {
  const optimiser = CanaryOptimiser.open(commandOf(words));
  const steps = [optimiser.step()];
  while (steps.at(-1)?.is_finished === false) steps.push(optimiser.step());
  return { optimiser, steps };
}

/** The audit of the canaries of an optimiser. */
function auditOf(optimiser: CanaryOptimiser, words = audit.arguments): Command {
  return commandOf(words, { [CANARY_FILE]: optimiser.file() });
}

test("steps are those of the program, and the audit of the canaries is too", () => {
  const { optimiser, steps } = moved(optimisation.arguments);
  expect(steps.length).toBe(optimisation.objectives.length);
  for (const [at, { objective }] of steps.entries()) {
    expect(objective).toBeCloseTo(optimisation.objectives[at] ?? 0, 2);
  }
  const aucs = steps.flatMap(({ auc }) => auc ?? []);
  expect(aucs.length).toBe(optimisation.aucs.length);
  for (const [at, auc] of aucs.entries()) expect(auc).toBeCloseTo(optimisation.aucs[at] ?? 0, 1);
  const planned = CanaryAudit.planned(auditOf(optimiser));
  const counter = CanaryCounter.open(planned.layout(), auditOf(optimiser));
  for (const { first, end } of assigned(planned, 5)) planned.add(counter.count(first, end));
  const { report } = planned.report(undefined, 1);
  expect(Math.abs((report.bounds[0]?.epsilon ?? 0) - audit.epsilon)).toBeLessThan(0.3);
});

test("the objective of LeNet-5 is that of the program", () => {
  const objective = (options: Record<string, string> = {}) => {
    const command = commandOf(withOptions(lenet.arguments, options));
    return (CanaryOptimiser.open(command).step().objective ?? 0) / lenet.objectives[0];
  };
  expect(Math.abs(objective() - 1)).toBeLessThan(0.02);
  expect(Math.abs(objective({ "--seed": "4" }) - 1)).toBeGreaterThan(0.1);
});

test("canaries are moved within the range of the features, and another seed moves others", () => {
  const words = withOptions(optimisation.arguments, { "--metasteps": "2" });
  const first = CanaryOptimiser.open(commandOf(words));
  const start = first.shown(2);
  expect(start.length).toBe(2 * first.features);
  first.step();
  expect(first.shown(2)).not.toEqual(start);
  const [low = 0, high = 0] = first.range;
  expect(first.shown(40).every((value) => value >= low && value <= high)).toBe(true);
  const other = CanaryOptimiser.open(commandOf(withOptions(words, { "--seed": "4" })));
  expect(other.shown(2)).not.toEqual(start);
  expect([...first.file().slice(0, 2)]).toEqual([80, 75]);
});

test("a saved optimisation continues with the same canaries", () => {
  const words = withOptions(optimisation.arguments, { "--metasteps": "3" });
  const whole = CanaryOptimiser.open(commandOf(words));
  whole.step();
  const continued = CanaryOptimiser.open(commandOf(words), whole.to_bytes());
  expect(continued.shown(40)).toEqual(whole.shown(40));
  expect(continued.step()).toEqual(whole.step());
  expect(continued.shown(40)).toEqual(whole.shown(40));
  const damaged = thrown(() => CanaryOptimiser.open(commandOf(words), new Uint8Array([80, 75])));
  expect(damaged).toMatchObject({ kind: "file" });
});

test("an audit needs its canaries, in the coordinator and in every worker", () => {
  const short = withOptions(optimisation.arguments, { "--metasteps": "1" });
  const { optimiser } = moved(short);
  const said = (call: () => unknown) =>
    expect(thrown(call)).toMatchObject({ message: expect.stringContaining(CANARY_FILE) });
  said(() => canary_training_overview(commandOf(audit.arguments)));
  const fewer = withOptions(audit.arguments, { "--canaries": "39" });
  said(() => CanaryAudit.planned(auditOf(optimiser, fewer)));
  const layout = CanaryAudit.planned(auditOf(optimiser)).layout();
  const other = moved(withOptions(short, { "--seed": "4" })).optimiser;
  expect(thrown(() => CanaryCounter.open(layout, auditOf(other)))).toMatchObject({ kind: "file" });
});

test("impossible optimisations name what to change", () => {
  const open = (option: string, value: string) =>
    thrown(() =>
      CanaryOptimiser.open(commandOf(withOptions(optimisation.arguments, { [option]: value }))),
    );
  for (const [option, value] of [
    ["--metasteps", "0"],
    ["--count", "3"],
    ["--data", "mine.csv"],
    ["--model", "gpt"],
    ["--steps", "0"],
  ] as const) {
    const message = option === "--data" ? "mine.csv" : option === "--count" ? "canaries" : option;
    expect(open(option, value)).toMatchObject({ message: expect.stringContaining(message) });
  }
  expect(open("--metasteps", "1001")).toMatchObject({ kind: "limit" });
  expect(open("--steps", "1000000000")).toMatchObject({ kind: "limit" });
});

test("the page asks with the words whose results are stored", () => {
  for (const { asked, arguments: words } of [optimisation, lenet]) {
    expect(optimizationWords(asked, {})).toEqual(words);
  }
  expect(canaryTrainingWords(audit.asked, {})).toEqual(audit.arguments);
});
