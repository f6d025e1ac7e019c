import { expect, test } from "vitest";
import { count, counted } from "./counts";

test("counts in few characters", () => {
  expect([1000, 99_999, 1e5, 3e7, 1e8].map(counted)).toEqual([
    "1,000",
    "99,999",
    "10⁵",
    "3·10⁷",
    "10⁸",
  ]);
});

test("singular and plural", () => {
  expect([0, 1, 2000].map((value) => count(value, "run"))).toEqual([
    "0 runs",
    "1 run",
    "2,000 runs",
  ]);
});
