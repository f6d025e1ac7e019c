/** What the page asks the program to train, in the terms of its forms. */

import { CLIENTS, SERVER } from "../state/clients";
import type { State } from "../state/fields";
import { recordOf, statisticsOf } from "../state/records";
import { truncates } from "../state/samplers";
import { BATCHES, CANARIES, MODEL, OPTIMISATION, PRETRAINING } from "../state/training";

/** What the page asks to train in two worlds; an odd number of trainings has one more. */
export function questionOf(state: State) {
  return {
    plan: {
      mechanism: { ...mechanismOf(state), threat_model: state.train_attacker },
      observations: state.train_runs + (state.train_runs % 2),
      ...statisticsOf(state),
    },
    ...modelOf(state),
    ...recordOf(state, MODEL),
    canary: state.train_canary,
  };
}

/** What the page asks to train with many canaries. */
export function canaryQuestionOf(state: State) {
  return {
    mechanism: mechanismOf(state),
    ...modelOf(state),
    ...recordOf(state, CANARIES),
    ...recordOf(state, MODEL),
    ...recordOf(state, PRETRAINING),
    ...statisticsOf(state),
  };
}

/** What the page asks to train with canary clients. */
export function federatedQuestionOf(state: State) {
  return {
    ...modelOf(state),
    ...recordOf(state, CLIENTS),
    clip_norm: state.train_clip,
    noise_multiplier: state.train_noise,
    ...recordOf(state, SERVER),
    ...statisticsOf(state),
  };
}

/** What the page asks to optimise. */
export function optimizationOf(state: State) {
  return {
    ...modelOf(state),
    canaries: state.train_canaries,
    ...recordOf(state, OPTIMISATION),
    seed: state.seed,
  };
}

/** Noise and batches; truncated batches are of all records. */
function mechanismOf(state: State) {
  const records = { dataset_size: state.train_steps * state.train_batch };
  return { ...recordOf(state, BATCHES), ...(truncates(state.train_sampler) ? records : {}) };
}

/** The model, and synthetic data that it takes: LeNet-5 has images, of one kind. */
function modelOf({ train_model: model, train_data }: State) {
  return { model, data: model === "lenet" ? "fmnist-like" : train_data };
}

export type TrainingQuestion = ReturnType<typeof questionOf>;
export type CanaryTrainingQuestion = ReturnType<typeof canaryQuestionOf>;
export type FederatedTrainingQuestion = ReturnType<typeof federatedQuestionOf>;
export type CanaryOptimizationQuestion = ReturnType<typeof optimizationOf>;
