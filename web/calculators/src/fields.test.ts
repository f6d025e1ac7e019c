import { describe, expect, test } from "vitest";
import { numberText } from "../../fields/field";
import * as shared from "../../fields/parameters";
import { calculators } from "./calculators";
import { attributeOf, type Input, inWords, propertyOf, read } from "./fields";

const { noiseMultiplier, steps, delta } = shared;

const colour: Input = {
  kind: "choice",
  label: "Colour",
  options: [
    ["red", "Red"],
    ["blue", "Blue"],
  ],
  initial: "red",
  help: "",
};

describe("read", () => {
  test("a value within the domain is unchanged, in any notation", () => {
    expect(read(noiseMultiplier, "1.50")).toEqual({ value: 1.5 });
    expect(read(noiseMultiplier, " .5 ")).toEqual({ value: 0.5 });
    expect(read(delta, "1e-5")).toEqual({ value: 1e-5 });
    expect(read(steps, "1E3")).toEqual({ value: 1000 });
    expect(read(steps, 7)).toEqual({ value: 7 });
    expect(read(colour, "blue")).toEqual({ value: "blue" });
  });

  test("a missing value is the initial value", () => {
    expect(read(noiseMultiplier, null, 3)).toEqual({ value: 1 });
    expect(read(colour, undefined, "blue")).toEqual({ value: "red" });
  });

  test.each([
    ["0", 0.05],
    ["-1", 0.05],
    ["1e999", 1000],
    [1e9, 1000],
    [Number.POSITIVE_INFINITY, 1000],
  ])("%s is clamped, and the problem names the domain", (given, value) => {
    const found = read(noiseMultiplier, given);
    expect(found.value).toBe(value);
    expect(found.problem).toContain("Noise multiplier is “");
    expect(found.problem).toContain("from 0.05 to 1000");
  });

  test.each([
    "",
    "NaN",
    "Infinity",
    "0x10",
    "1,5",
    "1_0",
    "one",
    "1e",
    `1${"0".repeat(40)}`,
    {},
    [1],
    true,
  ])("%j is no number: the previous value is used", (given) => {
    const found = read(noiseMultiplier, given, 3);
    expect(found.value).toBe(3);
    expect(found.problem).toMatch(/must be a number/);
  });

  test("a count is whole", () => {
    expect(read(steps, "2.6")).toMatchObject({ value: 3 });
    expect(read(steps, "2.6").problem).toContain("a whole number from 1 to 1e6");
    expect(read(steps, "0.2")).toMatchObject({ value: 1 });
  });

  test("a choice is one of its options", () => {
    const found = read(colour, "<img onerror=alert(1)>", "blue");
    expect(found.value).toBe("blue");
    expect(found.problem).toBe("Colour is “<img onerror=alert(1)>”; it must be one of red, blue.");
  });

  test("a problem quotes only the start of a long text", () => {
    expect(read(noiseMultiplier, "x".repeat(1e6)).problem?.length).toBeLessThan(150);
  });
});

test("a failure names settings by their labels", () => {
  const { fields } = calculators.find(({ name }) => name === "counts") ?? { fields: {} };
  const message = "false_positives must be at most zero_out_trials at this delta";
  const worded = inWords({ kind: "input", field: "false_positives", message }, fields);
  expect(worded.message).toBe(
    "False positives must be at most Runs without the record at this delta",
  );
  const other = { kind: "input", field: "delta", message: "delta is 2" } as const;
  expect(inWords(other, fields).message).toBe("Delta is 2");
  expect(inWords(other, {}).message).toBe("delta is 2");
});

test("numbers are written as the command line takes them", () => {
  const written = [1, 0.5, 1e-5, 1.25e-7, 60000, 1e6, 1e7, 2.5e12, 0, "poisson"].map(numberText);
  expect(written).toEqual([
    "1",
    "0.5",
    "1e-5",
    "1.25e-7",
    "60000",
    "1e6",
    "1e7",
    "2.5e12",
    "0",
    "poisson",
  ]);
});

test("a setting has a property and an attribute", () => {
  expect([propertyOf("noise_multiplier"), attributeOf("noise_multiplier")]).toEqual([
    "noiseMultiplier",
    "noise-multiplier",
  ]);
});

test("each initial value lies within its own domain", () => {
  const all = calculators.flatMap(({ fields }) => Object.entries<Input>(fields));
  expect(all.length).toBeGreaterThan(20);
  for (const [, field] of all) {
    expect(read(field, field.initial)).toEqual({ value: field.initial });
  }
});
