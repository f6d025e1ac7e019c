import { expect, test } from "vitest";
import type { NumberField } from "../../../fields/field";
import { FIELDS } from "../state/fields";
import { slider } from "./paired";

const FIELD: Record<string, NumberField> = {
  noise: FIELDS.noise_multiplier,
  steps: FIELDS.steps,
  epochs: FIELDS.epochs,
  delta: FIELDS.delta,
  threshold: FIELDS.see_threshold,
};

test.each([
  ["noise", 1, 1.1, 0.99],
  ["noise", 0.2, 0.21, 0.2],
  ["noise", 0.794, 0.8, 0.79],
  ["noise", 20, 20, 19],
  ["steps", 100, 101, 99],
  ["steps", 1000, 1100, 999],
  ["steps", 1, 2, 1],
  ["epochs", 3, 4, 2],
  ["delta", 1e-5, 1.1e-5, 9.9e-6],
  ["threshold", 3, 3.1, 2.9],
  ["threshold", 0, 0.1, 0],
])("an arrow key moves %s from %s to %s or %s", (name, value, more, less) => {
  const { next } = slider(FIELD[name] as NumberField);
  expect([next(value, 1), next(value, -1)]).toEqual([more, less]);
});

/** Whether a drag to the right never moves a value back, and a position always has one value. */
function isSteady(scale: ReturnType<typeof slider>): boolean {
  const places = Array.from({ length: 401 }, (_, place) => place);
  const values = places.map((place) => scale.value(place));
  return values.every(
    (value, index) => value >= (values[index - 1] ?? 0) && scale.value(index) === value,
  );
}

test.each(Object.entries(FIELD))("a dragged slider of %s does not flicker", (_, field) => {
  const scale = slider(field);
  expect(isSteady(scale)).toBe(true);
  expect([scale.value(0), scale.position(field.least)]).toEqual([field.least, 0]);
  const moved = {
    ...scale,
    value: (place: number) => scale.next(scale.value(place), place % 2 ? 1 : -1),
  };
  expect(isSteady(moved)).toBe(false);
});
