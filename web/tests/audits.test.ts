/** The audits that a page makes, in node: coordinator and counters without their workers. */

import { readFileSync } from "node:fs";
import { Audit, type AuditPlan, count, initSync } from "@dpscope/wasm/audits";
import { beforeAll, expect, test } from "vitest";
import { assigned, thrown } from "./calls";

const PLAN: AuditPlan = {
  mechanism: { noise_multiplier: 1, steps: 20, epochs: 2, sampler: "shuffle" },
  observations: 30_000,
  delta: 1e-5,
  significance: 0.05,
  seed: "7",
};

beforeAll(() => {
  const wasm = new URL("../wasm/audits/dpscope_audits_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

/** Counts what is left, as many observations of each world at a time. */
function finish(audit: Audit, size: number): Audit {
  const layout = audit.layout();
  for (const { first, end } of assigned(audit, size)) audit.add(count(layout, first, end));
  return audit;
}

test("the result does not depend on division or lost workers", () => {
  const whole = finish(Audit.open(PLAN), 1e9).result();
  expect(whole).toMatchObject({ kind: "bound", observations: 30_000, planned: 30_000, seed: "7" });
  const audit = Audit.open(PLAN);
  const layout = audit.layout();
  const ranges = Array.from({ length: 3 }, () => audit.assign(1_111));
  const [first, lost, last] = ranges;
  if (first === undefined || lost === undefined || last === undefined)
    throw new Error("not assigned");
  audit.add(count(layout, last.first, last.end));
  audit.release(lost.first, lost.end);
  audit.add(count(layout, first.first, first.end));
  expect(audit.progress()).toEqual({ done: 4 * 1_152, total: 30_000 });
  expect(audit.result()).toMatchObject({ kind: "estimate", gdp_mu: null });
  expect(audit.curve().band).toBeUndefined();
  expect(audit.assign(1e9)).toEqual({ first: lost.first, end: lost.end });
  audit.release(lost.first, lost.end);
  const resumed = Audit.from_bytes(audit.to_bytes());
  expect(finish(resumed, 999).result()).toEqual(whole);
});

test("counts of another range are refused", () => {
  const audit = Audit.open(PLAN);
  const layout = audit.layout();
  const range = audit.assign(1_024);
  const counted = count(layout, 0, 1_024);
  expect(thrown(() => audit.add(count(layout, 0, 999)))).toMatchObject({ kind: "file" });
  const foreign = count(Audit.open({ ...PLAN, seed: "8" }).layout(), 0, 1_024);
  expect(thrown(() => audit.add(foreign))).toMatchObject({ kind: "file" });
  const damaged = counted.map((byte, at) => (at === 500 ? byte ^ 1 : byte));
  expect(thrown(() => audit.add(damaged))).toMatchObject({ kind: "file" });
  expect(audit.progress().done).toBe(0);
  expect(range).toEqual({ first: 0, end: 1_024 });
  audit.add(counted);
  expect(thrown(() => audit.add(counted))).toMatchObject({ kind: "file" });
  expect(audit.progress().done).toBe(2_048);
});

test("a bound has a band in which its curve lies", () => {
  const { fpr, fnr, band } = finish(Audit.open(PLAN), 1e9).curve();
  expect(fpr).toBeInstanceOf(Float64Array);
  expect(fpr.length).toBe(fnr.length);
  expect(fpr.length).toBeGreaterThan(20);
  expect(band?.most.fpr.length).toBe(band?.most.fnr.length);
  expect(band?.least.fpr.length).toBeGreaterThan(20);
});

test("an invalid plan is refused with the name of its field", () => {
  const refused = (change: object) => thrown(() => Audit.open({ ...PLAN, ...change }));
  const changed = (change: object) => refused({ mechanism: { ...PLAN.mechanism, ...change } });
  expect(changed({ steps: 0.5 })).toMatchObject({ kind: "input", field: "steps" });
  expect(changed({ sampler: "<b>" })).toMatchObject({ kind: "input", field: "sampler" });
  expect(refused({ observations: 3 })).toMatchObject({ kind: "input", field: "observations" });
  expect(refused({ seed: "9007199254740992" })).toMatchObject({ kind: "input", field: "seed" });
  expect(refused({ noise: 1 })).toMatchObject({ kind: "input" });
  expect(changed({ steps: 1e5, epochs: 1e3 })).toMatchObject({ kind: "limit", field: "steps" });
  expect(thrown(() => Audit.open(PLAN).result())).toMatchObject({ kind: "input" });
  expect(thrown(() => count(new Uint8Array(9), 0, 1))).toMatchObject({ kind: "file" });
});

test("an omitted seed is fresh, and reported", () => {
  const { seed: _, ...unseeded } = PLAN;
  const seeds = [unseeded, { ...unseeded, seed: "" }].map((plan) => {
    const { seed } = finish(Audit.open({ ...plan, observations: 2_000 }), 1e9).result();
    expect(Number(seed)).toBeLessThan(2 ** 53);
    return seed;
  });
  expect(seeds[0]).not.toBe(seeds[1]);
});
