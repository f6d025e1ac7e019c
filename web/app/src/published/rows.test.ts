import { expect, test } from "vitest";
import { initialState } from "../state/fields";
import { parseHash } from "../state/hash";
import { settingOf } from "../theory/setting";
import { exploreLink, isExceeded, leastLeak, type PublishedRow, rows } from "./rows";

const whole = (row: PublishedRow) => row.partial_epoch_steps === 0;

test("each training of whole epochs opens in Explore as it is", () => {
  for (const row of rows.filter(whole)) {
    const { state, messages } = parseHash(exploreLink(initialState(), row) ?? "");
    const { noise_multiplier, steps, epochs, delta } = row;
    expect(settingOf(state)).toEqual({ noise_multiplier, steps, epochs });
    expect([state.delta, state.sampler, state.view]).toEqual([delta, "shuffle", "explore"]);
    expect(messages).toEqual([]);
  }
});

test("an incomplete epoch has no link, nor has a number that Explore refuses", () => {
  const incomplete = rows.filter((row) => !whole(row));
  expect(incomplete.length).toBeGreaterThan(0);
  for (const row of incomplete) expect(exploreLink(initialState(), row)).toBeUndefined();
  const [row] = rows.filter(whole) as [PublishedRow];
  expect(exploreLink(initialState(), row)).toBeDefined();
  for (const part of [{ partial_epoch_steps: 1 }, { noise_multiplier: 21.1 }, { epochs: 1.5 }]) {
    expect(exploreLink(initialState(), { ...row, ...part })).toBeUndefined();
  }
});

test("a dataset that the reader chose does not change the steps of the link", () => {
  const [row] = rows.filter(whole) as [PublishedRow];
  const state = { ...initialState(), dataset_size: 1000, batch_size: 10 };
  expect(parseHash(exploreLink(state, row) ?? "").state.steps).toBe(row.steps);
});

test("the factor is the largest lower bound over the claim", () => {
  for (const row of rows) {
    const factor = (leastLeak(row)?.epsilon ?? 0) / row.claimed_epsilon;
    expect(row.shuffle_over_claim).toBeCloseTo(factor, 12);
    expect(isExceeded(row)).toBe(factor > 1);
  }
});
