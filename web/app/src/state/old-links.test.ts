import { expect, test } from "vitest";
import { formatHash, parseHash } from "./hash";

const SLOTS = "bernoulli:300:0.25";

test.each([
  ["scores_rule=simultaneous", { "scores.threshold_rule": "simultaneous" }],
  ["scores_higher=zero-out", { "scores.higher_means": "zero-out" }],
  ["scores_claim=3", { "scores.claim": "3" }],
  ["run_rule=walk", {}],
  ["run_rule=fixed", { "one-run.guesses": "60" }],
  ["run_rule=fixed&run_guesses=70", { "one-run.guesses": "70" }],
  ["run_rule=fixed&run_canaries=50", { "one-run.guesses": "50" }],
  ["run_game=coins", {}],
  ["run_game=pairs", { "one-run.pairs": "true" }],
  ["run_higher=included", {}],
  ["run_higher=other", { "one-run.direction": "lower" }],
  ["run_number=fixed&run_mean=90", {}],
  ["run_number=constructor", {}],
  ["run_number=poisson", { "one-run.design": "poisson:100", "federated.design": "poisson:100" }],
  [
    "run_number=poisson&run_mean=90",
    { "one-run.design": "poisson:90", "federated.design": "poisson:90" },
  ],
  [
    "run_number=bernoulli&run_slots=300&run_inclusion=0.25",
    { "one-run.design": SLOTS, "federated.design": SLOTS },
  ],
  ["run_claim=2", { "one-run.claim": "2" }],
  ["fed_parameters=1e5", { "federated.dimension": "1e5" }],
  ["fed_attacker=final_model", { "federated.attacker": "final-model" }],
  ["fed_server_rounds=50", {}],
  [
    "fed_attacker=all_updates&fed_server_rounds=50",
    { "federated.attacker": "all-updates", "federated.server_rounds": "50" },
  ],
  ["fed_inserted=150", { "federated.canaries": "150" }],
  ["fed_control_cosine=-0.03", {}],
  [
    "fed_control=included&fed_control_cosine=-0.03",
    { "federated.control_client": "included", "federated.control_cosine": "-0.03" },
  ],
  ["fed_claim=7", { "federated.claim": "7" }],
  ["view=scores&delta=1e-6", { "scores.delta": "1e-6" }],
  ["view=one-run&significance=0.01", { "one-run.significance": "0.01" }],
  ["view=federated&delta=1e-7", { "federated.delta": "1e-7" }],
  ["view=explore&delta=1e-7", {}],
])("a link of version 1 with %s opens the same setting", (fields, given) => {
  const { state, messages } = parseHash(`#v=1&${fields}`);
  expect(messages).toEqual([]);
  expect(state.given).toEqual(given);
  // and the link of that setting has nothing to be mapped again
  expect(parseHash(formatHash(state))).toEqual({ state, messages: [] });
});

test("links of version 2 have no such fields", () => {
  const { state, messages } = parseHash("#v=2&view=one-run&delta=1e-6&run_claim=2");
  expect(state.given).toEqual({});
  expect(messages.join()).toContain("unknown field “run_claim”");
});

test.each([
  ["scores_claim=high", "scores_claim = “high”; it must be a number from 0 to 1e6"],
  ["fed_parameters=1.5", "fed_parameters = “1.5”; it must be a whole number from 2 to 1e12"],
  ["run_rule=fixed&run_guesses=many", "run_guesses = “many”"],
  ["run_number=poisson&run_mean=few", "run_mean = “few”"],
  ["view=scores&delta=small", "delta = “small”"],
])("a number that is none is not given: %s", (fields, message) => {
  const { state, messages } = parseHash(`#v=1&${fields}`);
  expect(messages).toHaveLength(1);
  expect(messages[0]).toContain(message);
  expect(JSON.stringify(state.given)).not.toMatch(/high|1\.5|many|few|small|NaN/);
});

test("a name that an old link has twice is reported, and the first is used", () => {
  const { state, messages } = parseHash("#v=1&scores_claim=3&scores_claim=4");
  expect(messages).toEqual(["The link contains “scores_claim” more than once; the first is used."]);
  expect(state.given).toEqual({ "scores.claim": "3" });
});
