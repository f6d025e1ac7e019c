import { expect, test } from "vitest";
import { parse } from "../../../fields/field";
import { FIELDS } from "./fields";
import { seedAfter } from "./seed";

test("consecutive seeds differ and are valid", () => {
  const last = String(Number.MAX_SAFE_INTEGER);
  const all = ["0", "1", last].flatMap((seed) => [1, 2].map((places) => seedAfter(seed, places)));
  expect(all).toEqual(["1", "2", "2", "3", "0", "1"]);
  for (const seed of all) expect(parse(FIELDS.seed, seed)).toBe(seed);
});
