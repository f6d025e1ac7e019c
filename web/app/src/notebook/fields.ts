import { type Field, fieldOf, initialState, type State } from "../state/fields";

/** Settings of the comparison, by the names that the program and Python have for them. */
export const SETTINGS = [
  "noise_multiplier",
  "steps",
  "epochs",
  "delta",
  "claim",
  "sampler",
  "dataset_size",
  "batch_size",
  "uses_per_epoch",
  "max_batch_size",
  "buffer_examples",
  "adjacency",
  "threat_model",
  "significance",
  "seed",
  "axis",
] as const satisfies readonly Field[];

export type Setting = (typeof SETTINGS)[number];
export type Settings = Pick<State, Setting>;

/** Numbers of the conclusion, beside all values. */
export const ANSWERS = ["claimed", "lower", "upper"] as const;

export function settingsOf(state: State): Settings {
  return Object.fromEntries(SETTINGS.map((name) => [name, state[name]])) as Settings;
}

/** What the Python package knows of the settings: their domains. */
export function description(): object {
  const initial = initialState();
  const settings = SETTINGS.map((name) => {
    const field = fieldOf(name);
    const help = field.help ?? field.label;
    const domain =
      field.kind === "choice"
        ? { values: field.options.map(([value]) => value) }
        : field.kind === "number"
          ? { least: field.least, most: field.most, whole: field.whole === true }
          : {};
    return [name, { kind: field.kind, initial: initial[name] ?? null, help, ...domain }];
  });
  return { title: "Explore", settings: Object.fromEntries(settings), answers: ANSWERS };
}
