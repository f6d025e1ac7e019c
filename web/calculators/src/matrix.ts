/** Matrix mechanisms (DP-FTRL): ε of a strategy, and all strategies at that ε. */

import { numberText } from "../../fields/field";
import { PARTICIPATIONS, STRATEGIES } from "../../fields/matrix";
import * as shared from "../../fields/parameters";
import { grouped, rounded } from "../../numbers/rounded";
import type { Calculator, Figure } from "./calculator";
import { relation } from "./relation";
import type { MatrixRecord, MatrixResult, MatrixSettings } from "./types";

/** The question without its noise. */
function questionOf({ steps, participation, epochs, separation, delta }: MatrixSettings) {
  const isEpochs = participation === "epochs" || participation === "shuffled";
  return {
    steps,
    participation,
    ...(isEpochs && { epochs }),
    ...(participation === "min-separation" && { separation }),
    delta,
  };
}

export const matrix: Calculator<MatrixSettings, MatrixResult> = {
  name: "matrix",
  title: "Correlated noise (DP-FTRL)",
  about: "The ε of a matrix mechanism, and the error of its prefix sums",
  fields: {
    strategy: {
      kind: "choice",
      label: "Strategy",
      options: STRATEGIES,
      initial: "banded-optimised",
      help: "Strategy matrix: how noise is correlated between steps",
    },
    steps: {
      ...shared.steps,
      label: "Steps of the training",
      initial: 500,
      help: "Noisy updates, over all epochs",
    },
    participation: {
      kind: "choice",
      label: "Participation",
      options: PARTICIPATIONS,
      initial: "epochs",
      help: "The steps in which one participant may take part",
    },
    epochs: {
      ...shared.epochs,
      initial: 10,
      help: "Epochs of the training: a divisor of the steps",
      onlyFor: ["participation", "epochs", "shuffled"],
    },
    separation: {
      kind: "number",
      label: "Minimum separation",
      symbol: "b",
      least: 1,
      most: 1e6,
      whole: true,
      initial: 50,
      help: "Least distance of two steps of a participant",
      onlyFor: ["participation", "min-separation"],
    },
    noise_multiplier: { ...shared.noiseMultiplier, initial: 3 },
    delta: shared.delta,
  },
  async answer(call, settings) {
    const { strategy, noise_multiplier, delta } = settings;
    const question = questionOf(settings);
    const report = await call("matrix", { ...question, strategy, noise_multiplier });
    const value = report.strategies[0]?.value;
    if (value == null) throw { kind: "internal", message: "The strategy has no value." };
    const { epsilon } = value;
    // the bound does not depend on the comparison
    const compared = await call("matrix", { ...question, epsilon }).catch(() => undefined);
    const upper = (epsilon: number) => relation("ε", "≤", rounded(epsilon, "upper"));
    const figures: Figure[] = [
      {
        role: "upper",
        label: "ε of every participant, at most",
        value: upper(epsilon),
        standing: "upper bound, proven",
        method: "sensitivity of the strategy matrix",
      },
    ];
    if (value.last != null) {
      figures.push({
        role: "upper",
        label: "The participant of the latest steps",
        value: upper(value.last.epsilon),
        standing: "upper bound, proven",
        method: "norm of the columns of its steps",
      });
    }
    figures.push({
      role: "answer",
      label: "Noise in sums of updates",
      value: relation("rms", "≈", rounded(value.mean_error, "estimate", 2)),
      standing: `at most ${rounded(value.largest_error, "estimate", 2)}, in clip norms`,
      method: "error of prefix sums, per coordinate",
    });
    const sentence = `${grouped(settings.steps)} steps with noise multiplier ${numberText(noise_multiplier)} have ${upper(epsilon)} at ${relation("δ", "=", numberText(delta))} for every participant.`;
    const answer = { figures, sentences: [sentence], result: report };
    if (compared === undefined) return answer;
    return {
      ...answer,
      table: {
        title: "All strategies at this ε",
        head: ["Strategy", "σ", "Mean error", "Largest error"],
        rows: compared.strategies.map(rowOf),
      },
      result: { ...report, at_this_epsilon: compared.strategies },
    };
  },
  command(settings) {
    const { strategy, steps, noise_multiplier, delta } = settings;
    return `dpscope bound matrix --strategy ${strategy} --steps ${numberText(steps)} --participation ${participationOf(settings)} --noise-multiplier ${numberText(noise_multiplier)} --delta ${numberText(delta)}`;
  },
};

function participationOf({ participation, epochs, separation }: MatrixSettings): string {
  if (participation === "single") return participation;
  const number = participation === "min-separation" ? separation : epochs;
  return `${participation}:${numberText(number)}`;
}

function rowOf({ strategy, value }: MatrixRecord): string[] {
  const name = STRATEGIES.find(([known]) => known === strategy)?.[1] ?? strategy;
  if (value == null) return [name, "–", "–", "–"];
  return [
    name,
    rounded(value.noise_multiplier, "upper"),
    rounded(value.mean_error, "estimate", 2),
    rounded(value.largest_error, "estimate", 2),
  ];
}
