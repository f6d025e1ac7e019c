import type { TrainingQuestion } from "@dpscope/wasm/training";
import type { State } from "../state/fields";

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
        threat_model: state.train_attacker,
        batch_size: train_batch,
      },
      observations: state.train_runs + (state.train_runs % 2),
      delta: state.delta,
      significance: state.significance,
      seed: state.seed,
    },
    model: state.train_model,
    data: dataOf(state),
    clip_norm: state.train_clip,
    ...(state.train_rate === undefined ? {} : { learning_rate: state.train_rate }),
    canary: state.train_canary,
  };
}

/** Synthetic data that the model takes: LeNet-5 has images, of one kind. */
export function dataOf({ train_model, train_data }: State): State["train_data"] {
  return train_model === "lenet" ? "fmnist-like" : train_data;
}
