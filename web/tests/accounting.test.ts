/** Uniform subsets and correlated noise in the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import { initSync, type MatrixQuestion, matrix, subset_bound } from "@dpscope/wasm/accounting";
import { bound, initSync as initCalculators, type KnownBound } from "@dpscope/wasm/calculators";
import { beforeAll, expect, test } from "vitest";
import { boundCommand } from "../app/src/copies/command";
import { matrixCommand } from "../app/src/copies/matrix";
import { comparisonOf, INPUT_OF, questionOf } from "../app/src/matrix/question";
import type { LineName } from "../app/src/numbers/lines";
import { FIELD_NAMES, initialState, type State } from "../app/src/state/fields";
import { parseHash } from "../app/src/state/hash";
import { boundSettingOf, settingOf } from "../app/src/theory/setting";
import native from "./accounting.json" with { type: "json" };

beforeAll(() => {
  const module = (name: string) =>
    readFileSync(new URL(`../wasm/${name}/dpscope_${name}_bg.wasm`, import.meta.url));
  initSync({ module: module("accounting") });
  initCalculators({ module: module("calculators") });
});

function stateOf(link: string): State {
  const { state, messages } = parseHash(link);
  expect(messages, link).toEqual([]);
  return state;
}

function epsilonOf(state: State, line: string): number {
  const at = { delta: state.delta };
  if (line === "poisson") return bound(line, settingOf(state), at).epsilon;
  return subset_bound(line as KnownBound, boundSettingOf(state), at).epsilon;
}

test("bounds of uniform subsets are those of the program to the bit", () => {
  for (const { link, line, arguments: words, epsilon } of native.bounds) {
    const state = stateOf(link);
    expect(boundCommand(state, line as LineName)).toBe(`dpscope ${words.join(" ")}`);
    expect(epsilonOf(state, line), link).toBe(epsilon);
  }
});

test("reports of matrix mechanisms are those of the program to the bit", () => {
  for (const { link, arguments: words, report } of native.reports) {
    const state = stateOf(link);
    const question = words.includes("all")
      ? comparisonOf(state, state.matrix_epsilon)
      : questionOf(state, state.matrix_strategy);
    expect(matrixCommand(question)).toBe(`dpscope ${words.join(" ")}`);
    expect(matrix(question), link).toEqual(report);
  }
});

test("a wrong number is detected", () => {
  const [row] = native.bounds;
  const state = stateOf(row?.link ?? "");
  expect(epsilonOf({ ...state, noise_multiplier: 1.01 }, row?.line ?? "")).not.toBe(row?.epsilon);
});

/** The input that the library refuses. */
function refused(question: Partial<MatrixQuestion>): string | undefined {
  try {
    matrix({ ...questionOf(initialState(), "tree"), ...question });
  } catch (failure) {
    return (failure as { field?: string }).field;
  }
  return undefined;
}

test("failures name an input of the view", () => {
  for (const [field, question] of Object.entries({
    steps: { steps: 0 },
    epochs: { epochs: 7 },
    delta: { delta: 0 },
    epsilon: { epsilon: 0 },
    separation: { participation: "min-separation", separation: 501 },
    bands: { strategy: "banded-square-root", bands: 501 },
    buffers: { strategy: "blt", buffers: 9 },
  } satisfies Record<string, Partial<MatrixQuestion>>)) {
    expect(refused(question)).toBe(field);
    expect(FIELD_NAMES).toContain(INPUT_OF[field]);
  }
});
