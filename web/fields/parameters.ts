/** Fields that the app and the calculators share; each narrows the domain where it has to. */

export const noiseMultiplier = {
  kind: "number",
  label: "Noise multiplier",
  symbol: "σ",
  least: 0.05,
  most: 1000,
  initial: 1,
  help: "Noise standard deviation divided by the clip norm",
} as const;

export const steps = {
  kind: "number",
  label: "Steps per epoch",
  symbol: "T",
  least: 1,
  most: 1e6,
  whole: true,
  initial: 100,
  help: "Batches per epoch",
} as const;

export const epochs = {
  kind: "number",
  label: "Epochs",
  symbol: "E",
  least: 1,
  most: 1e5,
  whole: true,
  initial: 1,
  help: "Passes over the data",
} as const;

export const delta = {
  kind: "number",
  label: "Delta",
  symbol: "δ",
  least: 1e-15,
  most: 0.5,
  initial: 1e-5,
  help: "The δ at which ε holds",
} as const;

export const significance = {
  kind: "number",
  label: "Significance",
  least: 1e-9,
  most: 0.5,
  initial: 0.05,
  help: "Probability that the bound is wrong: 0.05 is 95 % confidence",
} as const;
