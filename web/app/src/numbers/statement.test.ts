import type { Accounted } from "@dpscope/wasm/calculators";
import { expect, test } from "vitest";
import type { Lines } from "./lines";
import { statement } from "./statement";

function value(epsilon: number, kind: Accounted["kind"], more: Partial<Accounted> = {}) {
  const rest = { delta: 1e-5, scope: "pair", direction: "both", method: "sum", numeric_error: 0 };
  return { value: { epsilon, kind, ...rest, ...more } as Accounted };
}

const LINES: Lines = {
  poisson: value(0.718_04, "upper"),
  "balls-in-bins": value(0.6257, "upper"),
  "shuffle-sum": value(0.34, "lower"),
  "shuffle-max-slice": value(4.063_15, "lower"),
  "pair-lower": value(4.064_15, "lower", { significance: 0.05 }),
  deterministic: value(4.377_18, "upper"),
};

test("the gap is rounded outward, and a proof precedes a simulation", () => {
  expect(statement("shuffle", LINES).sentence).toBe(
    "Poisson accounting claims ε = 0.72; with shuffled batches, the worst-case pair leaks at least 4.06 (proven), and no dataset leaks more than 4.38 (proven). The leakage is at least 5.6 times the claim.",
  );
  expect(statement("shuffle", LINES).factor).toBe("5.6");
});

test("a simulated bound is used where only it exceeds the claim", () => {
  const weak = { ...LINES, "shuffle-max-slice": value(0.5, "lower") };
  const found = statement("shuffle", weak);
  expect(found.leastName).toBe("pair-lower");
  expect(found.sentence).toContain("4.06 (95 % confidence)");
});

test("without a gap no factor is stated", () => {
  const none = {
    ...LINES,
    "shuffle-max-slice": value(0.3, "lower"),
    "pair-lower": value(0.4, "lower"),
  };
  const found = statement("shuffle", none);
  expect(found.factor).toBeUndefined();
  expect(found.sentence).toContain("The claim is neither refuted nor confirmed.");
});

test("a gap too small for a factor is still stated", () => {
  const near = { ...LINES, "shuffle-max-slice": value(0.7205, "lower") };
  const found = statement("shuffle", near);
  expect(found.factor).toBeUndefined();
  expect(found.sentence).toContain("The leakage exceeds the claim.");
});

test("each sampler has a sentence, with and without values", () => {
  for (const sampler of ["poisson", "balls-in-bins", "deterministic", "partial-shuffle"] as const) {
    expect(statement(sampler, LINES).sentence).toContain("0.72");
    expect(statement(sampler, {}).sentence).toContain("no value here");
  }
  expect(statement("balls-in-bins", LINES).sentence).toContain("So the claim holds.");
  expect(statement("partial-shuffle", LINES).least).toBeUndefined();
});

test("a line without a value is not stated", () => {
  const found = statement("shuffle", { poisson: { reason: "too large" } });
  expect(found.claimed).toBeUndefined();
});
