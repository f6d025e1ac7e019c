import { expect, test } from "vitest";
import { initialState } from "../state/fields";
import { parseHash } from "../state/hash";
import { namesOf, questionOf, turned } from "./question";

test("a link restores the whole question", () => {
  const link =
    "#v=1&view=synthetic&syn_faults=E1%2CU1&syn_runs=40&syn_teachers=3&syn_gamma=0.5&syn_batch=2&syn_stop=epsilon&syn_epsilon=2&delta=1e-6&significance=0.1&seed=12";
  const { state, messages } = parseHash(link);
  expect(messages).toEqual([]);
  expect(questionOf(state)).toEqual({
    faults: "U1,E1",
    teachers: 3,
    gamma: 0.5,
    batch_size: 2,
    epsilon: 2,
    runs: 40,
    delta: 1e-6,
    significance: 0.1,
    seed: "12",
  });
  const bad = parseHash("#v=1&syn_faults=U1,X9");
  expect(bad.state.syn_faults).toBe("");
  expect(bad.messages[0]).toContain("syn_faults");
});

test("either iterations or an ε are asked for", () => {
  const state = initialState();
  expect(questionOf(state)).toMatchObject({ iterations: 100 });
  expect(questionOf(state)).not.toHaveProperty("epsilon");
  expect(questionOf({ ...state, syn_stop: "epsilon" })).not.toHaveProperty("iterations");
});

test("a switch turns on and off", () => {
  expect(turned("", "U1")).toBe("U1");
  expect(turned("U1,E1", "U1")).toBe("E1");
  expect(namesOf("")).toEqual([]);
});
