import { expect, test } from "vitest";
import { confidence, grouped, outward } from "./numbers";

test("bounds are rounded to their safe side", () => {
  expect(outward(0.7180357348651195, "upper")).toBe("0.7181");
  expect(outward(4.063153507878516, "lower")).toBe("4.0631");
  expect(outward(4.065984750208248, "estimate")).toBe("4.0660");
  expect(outward(9.99999, "upper")).toBe("10.0000");
  expect(outward(4, "upper")).toBe("4.0000");
  expect(outward(4, "lower")).toBe("4.0000");
  expect(outward(0, "lower")).toBe("0.0000");
  expect(outward(0.01234567, "upper")).toBe("1.235e-2");
  expect(outward(0.01234567, "lower")).toBe("1.234e-2");
  expect(outward(9.9999e-3, "upper")).toBe("1.000e-2");
  expect(outward(Number.POSITIVE_INFINITY, "upper")).toBe("∞");
});

/** Whether a way to write numbers never shows a bound on its wrong side, nor far from it. */
function isOutward(write: typeof outward): boolean {
  return Array.from({ length: 2000 }, (_, index) => 0.001 * 1.0071 ** index).every((value) => {
    const [upper, lower] = [Number(write(value, "upper")), Number(write(value, "lower"))];
    return lower <= value && value <= upper && upper - lower <= Math.max(2.1e-4, 3e-3 * value);
  });
}

test("no bound on a grid is shown on its wrong side", () => {
  expect(isOutward(outward)).toBe(true);
  const broken = (value: number) => value.toFixed(4);
  expect(isOutward(broken)).toBe(false);
});

test("thousands are told apart", () => {
  expect([0, 999, 1000, 104724, 1e10].map(grouped)).toEqual([
    "0",
    "999",
    "1,000",
    "104,724",
    "10,000,000,000",
  ]);
});

test("a confidence is never shown as more than it is", () => {
  const shown = [0.05, 0.5, 0.01, 0.001, 0.025, 0.00333, 1e-9].map(confidence);
  expect(shown).toEqual(["95 %", "50 %", "99 %", "99.9 %", "97.5 %", "99.667 %", "99.9999999 %"]);
});
