import { expect, test } from "vitest";
import { toCsv } from "./data-table";
import { apart } from "./labels";
import { logTicks, plot, shown } from "./plot";

test("labels keep their distance and their order", () => {
  const found = apart([10, 11, 12, 90], 0, 100, 15);
  const sorted = [...found].sort((one, other) => one - other);
  expect(found).toEqual(sorted);
  sorted.slice(1).forEach((height, index) => {
    expect(height - (sorted[index] ?? 0)).toBeGreaterThanOrEqual(15);
  });
  expect(Math.max(...found)).toBeLessThanOrEqual(100);
});

test("logarithmic ticks are round and not too many", () => {
  expect(logTicks([0.3, 4], 8)).toEqual([0.5, 1, 2]);
  expect(logTicks([1, 10_000], 6)).toEqual([1, 10, 100, 1000, 10_000]);
  expect(logTicks([1e-10, 1e-2], 6).length).toBeLessThanOrEqual(6);
});

test("places are within the axes, from the first end to the last", () => {
  const x = { label: "", ends: [1e-4, 1], isLog: true } as const;
  const y = { label: "", ends: [-2, 6] } as const;
  const drawn = plot({ width: 472, height: 258 }, { x, y });
  const across = [1e-4, 1e-2, 1, 0, 7].map(drawn.x);
  for (const [index, place] of [60, 260, 460, 60, 460].entries()) {
    expect(across[index]).toBeCloseTo(place, 9);
  }
  expect([-2, 0, 6, -3, 9].map(drawn.y)).toEqual([214, 164, 14, 214, 14]);
  expect(drawn.y(Number.NaN)).toBeNaN();
});

test("an axis without length has its value in the middle", () => {
  const axis = { label: "", ends: [3, 3] } as const;
  expect(plot({ width: 472, height: 258 }, { x: axis, y: axis }).x(3)).toBe(260);
});

test("ticks far from one are powers of ten, and minus is a minus", () => {
  const axis = { label: "", ends: [0, 1] } as const;
  const values = [3e-4, 1e-3, 0.03, 0, -2.5, 300, 1e4, 3e5];
  const texts = values.map((value) => shown(axis, value));
  expect(texts).toEqual(["3·10⁻⁴", "10⁻³", "0.03", "0", "−2.5", "300", "10⁴", "3·10⁵"]);
});

test("a cell that a spreadsheet would run is quoted", () => {
  const table = {
    caption: "",
    columns: ["a", "b"],
    rows: [
      ["=1+1", "-3.5"],
      ['say "hi", you', "x"],
    ],
  };
  expect(toCsv(table)).toBe('a,b\n\'=1+1,-3.5\n"say ""hi"", you",x\n');
});
