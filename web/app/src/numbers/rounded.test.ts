import { expect, test } from "vitest";
import { confidence, count, counted, rounded, scientific, timesMore } from "./rounded";

const VALUES = [0.718_022_8, 4.063_153_5, 349.804_809, 1e-5, 3.0025e-4, 0.05, 9.999_99, 0, 1e-300];

test("bounds are shown on their safe side, and near", () => {
  for (const value of VALUES) {
    for (const decimals of [2, 4]) {
      for (const shown of [rounded, scientific]) {
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

test("rounding to the nearest would not do", () => {
  const nearest = (value: number) => Number(value.toFixed(2));
  expect(VALUES.every((value) => nearest(value) <= value)).toBe(false);
});

test("shown as the command line shows them", () => {
  expect(rounded(0.718_022_8, "upper")).toBe("0.7181");
  expect(rounded(8.3e-4, "lower")).toBe("8.300e-4");
  expect(scientific(9.9999e-4, "upper")).toBe("1.000e-3");
  expect(rounded(Number.NaN, "upper")).toBe("–");
});

test("counts and confidences in few characters", () => {
  expect([1000, 99_999, 1e5, 3e7, 1e8].map(counted)).toEqual([
    "1,000",
    "99,999",
    "10⁵",
    "3·10⁷",
    "10⁸",
  ]);
  expect(confidence(0.05)).toBe("95 %");
  expect(confidence(0.001)).toBe("99.9 %");
});

test("one of a thing, and more of them", () => {
  expect([0, 1, 2000].map((value) => count(value, "run"))).toEqual([
    "0 runs",
    "1 run",
    "2,000 runs",
  ]);
});

test("how many times more is told only where it is more", () => {
  const times = [5.659, 1.1, 1.099, 1.04, 1.004, 1, 0.5].map((value) => timesMore(value, 1));
  expect(times).toEqual(["5.6", "1.1", "1.09", "1.04", undefined, undefined, undefined]);
  expect(timesMore(1, 0)).toBeUndefined();
});
