import { expect, test } from "vitest";
import { coresOf, workersOf } from "./cores";

test("one core is left to the page unless the reader chooses otherwise", () => {
  const workers = (cores: number) => workersOf({ workers: undefined }, cores);
  expect([1, 2, 3, 16].map(workers)).toEqual([1, 1, 2, 15]);
  expect(workersOf({ workers: 2 }, 2)).toBe(2);
  expect(workersOf({ workers: 1 }, 16)).toBe(1);
});

test("browsers that hide the number of cores have one", () => {
  expect([{}, { hardwareConcurrency: 0 }, { hardwareConcurrency: 128 }].map(coresOf)).toEqual([
    1, 1, 32,
  ]);
});
