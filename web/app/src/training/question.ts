import type { TrainingQuestion } from "@dpscope/wasm/training";
import { numberText } from "../../../fields/field";
import type { State } from "../state/fields";
import { attackerOf } from "../state/training";

/** What the page asks to train; an odd number of trainings has one more. */
export function questionOf(state: State): TrainingQuestion {
  const { train_noise, train_batch, train_steps, train_epochs, train_sampler } = state;
  return {
    plan: {
      mechanism: {
        noise_multiplier: train_noise,
        steps: train_steps,
        epochs: train_epochs,
        sampler: train_sampler,
        threat_model: attackerOf(train_sampler, state.train_attacker),
        batch_size: train_batch,
      },
      observations: state.train_runs + (state.train_runs % 2),
      delta: state.delta,
      significance: state.significance,
      seed: state.seed,
    },
    model: state.train_model,
    clip_norm: state.train_clip,
    ...(state.train_rate === undefined ? {} : { learning_rate: state.train_rate }),
    canary: state.train_canary,
  };
}

/** The command that trains the same models; options at the program's defaults are left out. */
export function trainingCommand(
  { plan, model, clip_norm, learning_rate, canary }: TrainingQuestion,
  files: { data?: string | undefined; labels?: string | undefined },
  claim: number | undefined,
): string {
  const { mechanism, observations, delta, significance, seed } = plan;
  const batch = mechanism.batch_size ?? 1;
  const option = (flag: string, value: string | number | null | undefined, usual?: unknown) =>
    value === usual || value === undefined || value === null
      ? ""
      : `--${flag} ${typeof value === "number" ? numberText(value) : value}`;
  return [
    "dpscope audit dpsgd",
    option("model", model, "mlp"),
    option("data", files.data),
    option("labels", files.labels),
    option("records", mechanism.steps * batch),
    option("batch-size", batch),
    option("epochs", mechanism.epochs, 1),
    option("noise-multiplier", mechanism.noise_multiplier),
    option("sampler", mechanism.sampler, "shuffle"),
    option("threat-model", mechanism.threat_model),
    option("clip-norm", clip_norm, 1),
    option("learning-rate", learning_rate),
    option("canary", canary, "random"),
    option("runs", observations),
    option("delta", delta),
    option("significance", significance, 0.05),
    option("claim", claim),
    option("seed", seed),
  ]
    .filter((part) => part !== "")
    .join(" ");
}
