/** The numbers of the calculators are those of the command line that they name. */

import { readFileSync } from "node:fs";
import { initSync as initAccounting } from "@dpscope/wasm/accounting";
import { initSync } from "@dpscope/wasm/calculators";
import { initSync as initOneShot } from "@dpscope/wasm/one_shot";
import { initSync as initPate } from "@dpscope/wasm/pate";
import { beforeAll, expect, test } from "vitest";
import { plain, unequal } from "../agreement/compare";
import values from "../agreement/values.json";
import type { Calculator } from "./calculator";
import { calculators } from "./calculators";
import type { Call } from "./calls";
import { api } from "./dpscope-compute";
import type { Input } from "./fields";
import { type QuantityName, quantities } from "./quantities";

const call: Call = async (name, ...given) =>
  (api[name] as (...given: readonly unknown[]) => never)(...given);

beforeAll(() => {
  const wasm = new URL("../../wasm/calculators/dpscope_calculators_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
  const accounting = new URL("../../wasm/accounting/dpscope_accounting_bg.wasm", import.meta.url);
  initAccounting({ module: readFileSync(accounting) });
  const oneShot = new URL("../../wasm/one_shot/dpscope_one_shot_bg.wasm", import.meta.url);
  initOneShot({ module: readFileSync(oneShot) });
  const pate = new URL("../../wasm/pate/dpscope_pate_bg.wasm", import.meta.url);
  initPate({ module: readFileSync(pate) });
});

function named(name: string): Calculator<unknown, object> {
  const found = calculators.find((calculator) => calculator.name === name);
  if (!found) throw new Error(`no calculator ${name}`);
  return found as unknown as Calculator<unknown, object>;
}

test.each(values)("$calculator: $command", async ({ calculator, settings, command, expected }) => {
  const { answer, command: commandOf } = named(calculator);
  expect(commandOf(settings)).toBe(command);
  const { result } = await answer(call, settings);
  expect(unequal(plain(result), expected)).toEqual([]);
});

test.each(Object.entries(quantities))(
  "the value %s is that of its calculator",
  async (name, of) => {
    const settings = Object.fromEntries(
      Object.entries<Input>(of.fields).map(([field, { initial }]) => [field, initial]),
    );
    const { figure, result } = await of.answer(call, settings);
    const expected: Record<QuantityName, [value: string, epsilon?: number]> = {
      "poisson-epsilon": ["ε ≤ 0.7181", programEpsilon("poisson", "claimed")],
      "shuffle-epsilon": ["ε ≥ 4.0631", programEpsilon("shuffle", "lower")],
      "persistent-shuffle-epsilon": ["ε ≥ 4.0631", programEpsilon("persistent-shuffle", "lower")],
      "balls-in-bins-epsilon": ["ε ≤ 0.6215", programEpsilon("balls-in-bins", "upper")],
      "deterministic-epsilon": ["ε ≤ 4.3772", programEpsilon("deterministic", "upper")],
      "noise-multiplier": ["σ = 1.0812"],
      "audit-epsilon": ["ε ≥ 3.1531"],
      observations: ["n ≥ 104,724"],
    };
    const [value, epsilon] = expected[name as QuantityName];
    expect(figure.value.replaceAll("\u00a0", " ")).toBe(value);
    if (epsilon !== undefined) expect(result).toMatchObject({ epsilon });
    expect(of.command(settings)).toMatch(/^dpscope /);
  },
);

/** ε of the program at the initial settings. */
function programEpsilon(sampler: string, side: "claimed" | "lower" | "upper"): number {
  const row = values.find(
    ({ calculator, settings }) =>
      calculator === "epsilon" && settings.sampler === sampler && settings.steps === 100,
  );
  const epsilon = (row?.expected as Partial<Record<string, number>> | undefined)?.[side];
  if (epsilon === undefined) throw new Error(`no value of ${sampler}`);
  return epsilon;
}

test("a wrong number is detected", () => {
  const found = { epsilon: 1, rows: [{ ceiling: 2 }] };
  expect(unequal(found, { epsilon: 1, rows: [{ ceiling: 2 }] })).toEqual([]);
  expect(unequal(found, { epsilon: 1 + 2 ** -52 })).toHaveLength(1);
  expect(unequal(found, { rows: [{ ceiling: 2.1 }] })).toHaveLength(1);
  expect(unequal(found, { upper: 1 })).toHaveLength(1);
});

test("every calculator is compared with the command line", () => {
  const seen = new Set(values.map(({ calculator }) => calculator));
  expect([...seen].sort()).toEqual(calculators.map(({ name }) => name).sort());
});
