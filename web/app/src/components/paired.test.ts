import { expect, test } from "vitest";
import { parse } from "../../../fields/field";
import { FIELDS } from "../state/fields";
import { plainNumber } from "./paired";

test("commas between thousands are read, and no other comma", () => {
  expect(["1,000", "12,345,678", "1,000.5"].map(plainNumber)).toEqual([
    "1000",
    "12345678",
    "1000.5",
  ]);
  for (const typed of ["0,5", "1,5", "1,0000", "0,100", "1,00", ",5", "1e1,000"]) {
    expect(parse(FIELDS.noise_multiplier, plainNumber(typed))).toBeUndefined();
  }
});
