import { expect, test } from "vitest";
import { domainOf, keypadOf, type NumberField, parse, typedText } from "./field";
import { delta, noiseMultiplier, steps } from "./parameters";

const typed = (field: NumberField, text: string) => parse(field, typedText(field, text));

test("a comma is decimal, and between thousands in whole numbers", () => {
  const decimals = ["0,5", "1,5", ",5", "0,100", "1,234", "2,5e1", "12,345.5"];
  expect(decimals.map((text) => typed({ ...noiseMultiplier, most: 1e5 }, text))).toEqual([
    0.5, 1.5, 0.5, 0.1, 1.234, 25, 12345.5,
  ]);
  expect(["1,000", "104,724", "1,000,000", "2,5e3"].map((text) => typed(steps, text))).toEqual([
    1000, 104724, 1e6, 2500,
  ]);
  expect(typed(delta, "1e-5")).toBe(1e-5);
  for (const text of ["1,5", "1,0000", "0,100", "1,2,3"])
    expect(typed(steps, text)).toBeUndefined();
  for (const text of ["1e1,000", "1,2,3", "1.2,3", "1,,5"]) {
    expect(typed(noiseMultiplier, text)).toBeUndefined();
  }
});

test("the keypad has letters where powers of ten are typed", () => {
  const few = { ...steps, most: 12 };
  expect([delta, steps, noiseMultiplier, few].map(keypadOf)).toEqual([
    "text",
    "text",
    "decimal",
    "numeric",
  ]);
});

test("a set has each known name once, in order", () => {
  const letters = { kind: "set", label: "Letters", options: ["a", "b", "c"], initial: "" } as const;
  expect(["", "b", "c,a", "a,a,", "b,c,a"].map((text) => parse(letters, text))).toEqual([
    "",
    "b",
    "a,c",
    "a",
    "a,b,c",
  ]);
  for (const text of ["d", "a b", "a,d", "A", "constructor"])
    expect(parse(letters, text), text).toBeUndefined();
});

test("links have decimal points only", () => {
  expect(parse(noiseMultiplier, "0,5")).toBeUndefined();
});

test("text has one line and a length, and keeps its commas", () => {
  const field = { kind: "text", label: "Column", most: 8 } as const;
  expect(["user", "1,000", "a b", "ü"].map((text) => parse(field, typedText(field, text)))).toEqual(
    ["user", "1,000", "a b", "ü"],
  );
  for (const text of ["", "123456789", "a\nb", "\u202ea"])
    expect(parse(field, text)).toBeUndefined();
  expect(domainOf(field)).toBe("text on one line, of at most 8 characters");
});
