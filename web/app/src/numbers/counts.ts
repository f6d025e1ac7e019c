import { grouped } from "../../../numbers/rounded";

/** 1 run, 2,000 runs. */
export function count(value: number, thing: string, things = `${thing}s`): string {
  return `${grouped(value)} ${value === 1 ? thing : things}`;
}

/** A count in few characters: 1,000; 10⁶; 3·10⁷. */
export function counted(value: number): string {
  if (value < 100_000) return grouped(value);
  const power = Math.floor(Math.log10(value) + 1e-12);
  const mantissa = Number((value / 10 ** power).toPrecision(2));
  return mantissa === 1 ? `10${superscript(power)}` : `${mantissa}·10${superscript(power)}`;
}

/** 0.05 as 5 %. */
export function percent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}

export function superscript(power: number): string {
  return String(power)
    .replace("-", "⁻")
    .replace(/[0-9]/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(digit)));
}

/** Counts by name, of both added up. */
export function added<C extends Readonly<Record<keyof C, number>>>(one: C, other: C): C {
  const names = Object.keys(one) as (keyof C)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as C;
}
