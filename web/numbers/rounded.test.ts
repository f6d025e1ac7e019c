import { expect, test } from "vitest";
import { confidence, decimalsOf, grouped, type Kind, rounded, scientific } from "./rounded";
import shown from "./rounded.json";

test("bounds are rounded to their safe side", () => {
  expect(rounded(0.7180357348651195, "upper")).toBe("0.7181");
  expect(rounded(4.063153507878516, "lower")).toBe("4.0631");
  expect(rounded(4.065984750208248, "estimate")).toBe("4.0660");
  expect(rounded(9.99999, "upper")).toBe("10.0000");
  expect(rounded(4, "upper")).toBe("4.0000");
  expect(rounded(4, "lower")).toBe("4.0000");
  expect(rounded(0, "lower")).toBe("0.0000");
  expect(rounded(0.01234567, "upper")).toBe("1.235e-2");
  expect(rounded(0.01234567, "lower")).toBe("1.234e-2");
  expect(rounded(9.9999e-3, "upper")).toBe("1.000e-2");
  expect(rounded(Number.POSITIVE_INFINITY, "upper")).toBe("∞");
});

/** Whether a way to write numbers rounds bounds outward, and stays close to them. */
function isOutward(write: typeof rounded): boolean {
  return Array.from({ length: 2000 }, (_, index) => 0.001 * 1.0071 ** index).every((value) => {
    const [upper, lower] = [Number(write(value, "upper")), Number(write(value, "lower"))];
    return lower <= value && value <= upper && upper - lower <= Math.max(2.1e-4, 3e-3 * value);
  });
}

test("no bound on a grid is rounded to its wrong side", () => {
  expect(isOutward(rounded)).toBe(true);
  const broken = (value: number) => value.toFixed(4);
  expect(isOutward(broken)).toBe(false);
});

test("thousands are separated", () => {
  expect([0, 999, 1000, 104724, 1e10].map(grouped)).toEqual([
    "0",
    "999",
    "1,000",
    "104,724",
    "10,000,000,000",
  ]);
});

test("a confidence is shown without the noise of binary fractions", () => {
  const shown = [0.05, 0.07, 0.5, 0.01, 0.001, 0.025, 0.00333, 1e-8].map(confidence);
  expect(shown).toEqual([
    "95 %",
    "93 %",
    "50 %",
    "99 %",
    "99.9 %",
    "97.5 %",
    "99.667 %",
    "99.999999 %",
  ]);
  expect([1e-9, 4e-13, 1e-300].map(confidence)).toEqual(Array(3).fill("more than 99.999999 %"));
});

/** Whether a way to write confidences never overstates them. */
function isSafe(write: typeof confidence): boolean {
  return Array.from({ length: 2000 }, (_, index) => 0.9 * 0.982 ** index).every((significance) => {
    const risk = 1e8 - Math.round(1e6 * Number(write(significance).replace(/[^\d.]/g, "")));
    return risk / 1e8 >= significance && risk <= Math.max(1, significance * 1e8 + 1);
  });
}

test("a confidence is never shown as more than it is", () => {
  expect(isSafe(confidence)).toBe(true);
  const nearest = (significance: number) => `${(100 * (1 - significance)).toFixed(6)} %`;
  expect(isSafe(nearest)).toBe(false);
  expect(isSafe((significance) => confidence(significance / 2))).toBe(false);
});

const VALUES = [0.718_022_8, 4.063_153_5, 349.804_809, 1e-5, 3.0025e-4, 0.05, 9.999_99, 0, 1e-300];

test("bounds are rounded to their safe side, and stay close", () => {
  for (const value of VALUES) {
    for (const decimals of [2, 4]) {
      const powered = (value: number, kind: Kind) => scientific(value, kind);
      for (const shown of [rounded, powered]) {
        const [low, high] = [
          Number(shown(value, "lower", decimals)),
          Number(shown(value, "upper", decimals)),
        ];
        expect(low).toBeLessThanOrEqual(value);
        expect(high).toBeGreaterThanOrEqual(value);
        expect(high - low).toBeLessThanOrEqual((decimals === 2 ? 0.011 : 1.1e-4) + 0.003 * value);
      }
    }
  }
});

test("rounding to nearest fails the check", () => {
  const nearest = (value: number) => Number(value.toFixed(2));
  expect(VALUES.every((value) => nearest(value) <= value)).toBe(false);
});

test.each(shown)("$upper and $lower have the text of the program", (pair) => {
  const { upper, lower, decimals, texts } = pair;
  expect(decimalsOf(upper, lower, 2)).toBe(decimals);
  const both = (digits: number) => [
    rounded(upper, "upper", digits),
    rounded(lower, "lower", digits),
  ];
  expect([both(decimals), both(4)]).toEqual(texts);
  if (lower > upper && decimals > 2) {
    const [below, above] = both(decimals).map(Number);
    expect(above).toBeGreaterThan(below ?? Number.NaN);
  }
});

test("a missing number is a dash", () => {
  expect(scientific(9.9999e-4, "upper")).toBe("1.000e-3");
  expect(rounded(Number.NaN, "upper")).toBe("–");
});
