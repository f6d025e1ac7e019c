/** Records that bundles read, from fields of the state. */

import { type Field, hasEffect, type Value, type ValueOf } from "../../../fields/field";

type Fields = Readonly<Record<string, Field>>;
/** A record's field for each field of the state: optional where the state may have no value for it, or one
 * without an effect. */
type RecordOf<F> = {
  [N in keyof F as F[N] extends { record: infer R extends string; initial: Value }
    ? F[N] extends { onlyFor: readonly unknown[] }
      ? never
      : R
    : never]: ValueOf<F[N]>;
} & {
  [N in keyof F as F[N] extends { record: infer R extends string } ? R : never]?: NonNullable<
    ValueOf<F[N]>
  >;
};

/** What the state says under the names of a record. Fields without a value are left out, and those that have
 * no effect with the other settings. */
export function recordOf<F extends Fields>(state: object, fields: F): RecordOf<F> {
  const values = state as Readonly<Record<string, Value | undefined>>;
  const used = Object.entries(fields).filter(([name, field]) => {
    return field.record !== undefined && values[name] !== undefined && hasEffect(field, state);
  });
  return Object.fromEntries(
    used.map(([name, { record }]) => [record, values[name]]),
  ) as RecordOf<F>;
}

/** A record whose fields are in the order of these fields of the state, before all others. */
export function inOrder<R extends object>(record: R, ...groups: readonly Fields[]): R {
  const values = new Map<string, unknown>(Object.entries(record));
  const names = groups.flatMap(Object.values<Field>).flatMap((field) => field.record ?? []);
  const first = names.filter((name) => values.has(name)).map((name) => [name, values.get(name)]);
  return { ...Object.fromEntries(first), ...record };
}

/** δ, the significance and the seed of the page. */
export function statisticsOf<S extends { delta: number; significance: number; seed: string }>({
  delta,
  significance,
  seed,
}: S) {
  return { delta, significance, seed };
}

/** The inputs of a view by the fields of their record. */
export function inputsOf<N extends string>(
  fields: Readonly<Record<N, Field>>,
): Readonly<Record<string, N>> {
  const entries = Object.entries<Field>(fields);
  return Object.fromEntries(entries.map(([name, { record = "" }]) => [record, name as N]));
}
