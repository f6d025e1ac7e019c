import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { check, initSync } from "@dpscope/wasm/studies";
import { expect, test } from "vitest";
import { parse } from "../../../fields/field";
import { FIELDS, fieldOf, initialState } from "../state/fields";
import { trainingOf } from "./check";

const file = new URL("../../../wasm/studies/dpscope_studies_bg.wasm", import.meta.url);
initSync({ module: readFileSync(fileURLToPath(file)) });

function isTaken(name: string, value: number): boolean {
  try {
    check({ ...trainingOf(initialState()), [name]: value } as never);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ["check_noise", FIELDS.check_noise.least, FIELDS.check_noise.most],
  ["check_delta", FIELDS.check_delta.least, undefined],
  ["check_rate", 1e-9, 1],
  ["check_steps", 1, 1e9],
] as const)(
  "the form accepts what the library accepts: %s",
  (field, least, most) => {
    const { record: name } = FIELDS[field];
    expect(parse(fieldOf(field), String(least))).toBe(least);
    expect(isTaken(name, least)).toBe(true);
    expect(isTaken(name, least * 0.9)).toBe(false);
    if (most === undefined) return;
    expect(parse(fieldOf(field), String(most))).toBe(most);
    expect(parse(fieldOf(field), String(2 * most))).toBeUndefined();
    expect(isTaken(name, most)).toBe(true);
    expect(isTaken(name, 2 * most)).toBe(false);
  },
  60_000,
);
