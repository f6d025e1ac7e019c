import figure3 from "../../../../crates/cli/papers/shuffle_or_not/figure_3.csv?raw";
import table1 from "../../../../crates/cli/papers/shuffle_or_not/table_1.csv?raw";
import type { State } from "./fields";

export interface Preset {
  group: string;
  name: string;
  noise_multiplier: number;
  steps: number;
  epochs: number;
  /** ε as printed by its authors, and the paper's empirical estimate. */
  printed?: number;
  empirical?: number;
}

/** The published settings, from the same files that `dpscope reproduce` reads. */
export const PRESETS: readonly Preset[] = [...figure3Rows(), ...table1Rows()];

/** The δ at which the papers print ε. */
export const PRINTED_DELTA = 1e-5;

/** The preset whose setting the state shows, at the δ at which it was printed. */
export function presetOf(state: State): Preset | undefined {
  const { noise_multiplier, steps, epochs, delta } = state;
  if (delta !== PRINTED_DELTA) return undefined;
  return PRESETS.find(
    (preset) =>
      preset.noise_multiplier === noise_multiplier &&
      preset.steps === steps &&
      preset.epochs === epochs,
  );
}

function rows(csv: string): string[][] {
  const lines = csv.trim().split("\n").slice(1);
  return lines.map((line) => line.split(","));
}

function known(cell: string | undefined): number | undefined {
  return cell === undefined || cell === "" ? undefined : Number(cell);
}

function figure3Rows(): Preset[] {
  return rows(figure3).map((cells) => ({
    group: "Figure 3 of the paper",
    name: `σ = ${Number(cells[0])}, T = ${cells[1] ?? ""}`,
    noise_multiplier: Number(cells[0]),
    steps: Number(cells[1]),
    epochs: 1,
    ...printed(cells[2], cells[3]),
  }));
}

function table1Rows(): Preset[] {
  return rows(table1).map((cells) => ({
    group: "Table I: published models",
    name: cells[0] ?? "",
    noise_multiplier: Number(cells[1]),
    steps: Number(cells[2]),
    epochs: Number(cells[3]),
    ...printed(cells[4], cells[5]),
  }));
}

function printed(claimed: string | undefined, empirical: string | undefined): Partial<Preset> {
  const one = known(claimed);
  const other = known(empirical);
  return {
    ...(one === undefined ? {} : { printed: one }),
    ...(other === undefined ? {} : { empirical: other }),
  };
}
