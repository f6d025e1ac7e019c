import type { TrainingQuestion } from "@dpscope/wasm/training";
import type {
  CanaryOptimizationQuestion,
  CanaryTrainingQuestion,
  FederatedTrainingQuestion,
} from "@dpscope/wasm/training_canaries";
import type { State } from "../state/fields";
import { about } from "../state/samplers";

/** What the page asks to train in two worlds; an odd number of trainings has one more. */
export function questionOf(state: State): TrainingQuestion {
  return {
    plan: {
      mechanism: { ...mechanismOf(state), threat_model: state.train_attacker },
      observations: state.train_runs + (state.train_runs % 2),
      ...statisticsOf(state),
    },
    ...modelOf(state),
    canary: state.train_canary,
  };
}

/** What the page asks to train with many canaries. */
export function canaryQuestionOf(state: State): CanaryTrainingQuestion {
  const { train_references, train_momentum } = state;
  return {
    mechanism: mechanismOf(state),
    ...modelOf(state),
    canaries: state.train_canaries,
    canary_kind: state.train_kind,
    repeats: state.train_repeats,
    reference_models: train_references,
    score: state.train_score,
    ...guessesOf(state),
    momentum: train_momentum,
    ...preTrainingOf(state),
    ...statisticsOf(state),
  };
}

/** Numbers of guesses that were fixed beforehand. */
function guessesOf({ train_guesses, train_guesses_in, train_guesses_out }: State) {
  return {
    ...(train_guesses === undefined ? {} : { guesses: train_guesses }),
    ...(train_guesses_in === undefined ? {} : { guesses_in: train_guesses_in }),
    ...(train_guesses_out === undefined ? {} : { guesses_out: train_guesses_out }),
  };
}

function preTrainingOf({ train_pretrain, train_pretrain_epochs, train_pretrain_rate }: State) {
  if (train_pretrain === undefined) return {};
  return {
    pretrain_records: train_pretrain,
    pretrain_epochs: train_pretrain_epochs,
    ...(train_pretrain_rate === undefined ? {} : { pretrain_learning_rate: train_pretrain_rate }),
  };
}

/** What the page asks to train with canary clients. */
export function federatedQuestionOf(state: State): FederatedTrainingQuestion {
  const { train_presentations: presentations } = state;
  return {
    model: state.train_model,
    data: dataOf(state),
    ...clientsOf(state),
    rounds: state.train_rounds,
    ...participationOf(state),
    ...(presentations === undefined ? {} : { canary_presentations: presentations }),
    local_epochs: state.train_local_epochs,
    local_batch_size: state.train_local_batch,
    local_learning_rate: state.train_local_rate,
    clip_norm: state.train_clip,
    noise_multiplier: state.train_noise,
    ...serverNoiseOf(state),
    server_learning_rate: state.train_server_rate,
    server_momentum: state.train_server_momentum,
    canaries: state.train_client_canaries,
    attack: state.train_client_attack,
    repeats: state.train_client_repeats,
    without_canaries: state.train_without,
    ...statisticsOf(state),
  };
}

/** Clients of a column of the reader's file, or those that records are divided among. */
function clientsOf(state: State) {
  const { train_client_column: client_column, train_concentration: concentration } = state;
  if (client_column !== undefined) return { client_column };
  return {
    clients: state.train_clients,
    records_per_client: state.train_client_records,
    ...(concentration === undefined ? {} : { concentration }),
  };
}

function serverNoiseOf({ train_server_noise: noise_mechanism, train_bands }: State) {
  if (noise_mechanism === "gaussian") return {};
  return noise_mechanism === "tree" ? { noise_mechanism } : { noise_mechanism, bands: train_bands };
}

function participationOf({
  train_participation: participation,
  train_passes,
  train_client_rate,
  train_cohort,
}: State) {
  switch (participation) {
    case "poisson":
      return { participation, sampling_rate: train_client_rate };
    case "fixed-size":
      return { participation, cohort: train_cohort };
    default:
      return { participation, epochs: train_passes };
  }
}

/** What the page asks to optimise. */
export function optimizationOf(state: State): CanaryOptimizationQuestion {
  const { train_canaries: canaries, train_metasteps: metasteps, train_inner_steps, seed } = state;
  const steps = train_inner_steps === undefined ? {} : { steps: train_inner_steps };
  return { model: state.train_model, data: dataOf(state), canaries, metasteps, ...steps, seed };
}

function mechanismOf(state: State) {
  const { train_noise, train_batch, train_steps, train_epochs, train_sampler } = state;
  return {
    noise_multiplier: train_noise,
    steps: train_steps,
    epochs: train_epochs,
    sampler: train_sampler,
    batch_size: train_batch,
    ...samplerOf(state),
  };
}

/** The parameters of a sampler; truncated batches are of all records. */
function samplerOf(state: State) {
  const { train_sampler, train_steps, train_batch } = state;
  switch (about(train_sampler).parameter) {
    case "buffer_examples":
      return { buffer_examples: state.train_buffer };
    case "max_batch_size":
      return { dataset_size: train_steps * train_batch, max_batch_size: state.train_max_batch };
    case "uses_per_epoch":
      return { uses_per_epoch: state.train_uses };
    default:
      return {};
  }
}

function statisticsOf({ delta, significance, seed }: State) {
  return { delta, significance, seed };
}

function modelOf(state: State) {
  return {
    model: state.train_model,
    data: dataOf(state),
    clip_norm: state.train_clip,
    ...(state.train_rate === undefined ? {} : { learning_rate: state.train_rate }),
  };
}

/** Synthetic data that the model takes: LeNet-5 has images, of one kind. */
export function dataOf({ train_model, train_data }: State): State["train_data"] {
  return train_model === "lenet" ? "fmnist-like" : train_data;
}
