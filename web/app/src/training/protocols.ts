import type {
  ExpectedScoreBin,
  TrainingAnswer,
  TrainingOverview,
  WatchedTraining,
} from "@dpscope/wasm/training";
import type {
  CanariesAfter,
  CanaryTrainingAnswer,
  CanaryTrainingsSoFar,
  FederatedAfter,
  FederatedOverview,
  FederatedTrainingAnswer,
  FederatedTrainingsSoFar,
} from "@dpscope/wasm/training_canaries";
import type { Field } from "../../../fields/field";
import type { WorkerLike } from "../../../protocol/protocol";
import type { CoordinatorApi, CounterApi, Estimate, Found } from "../audit/subject";
import {
  CANARY_FILE,
  canaryTrainingWords,
  type DataNames,
  federatedTrainingWords,
  trainingWords,
} from "../copies/trained";
import { CLIENTS, SERVER } from "../state/clients";
import type { State } from "../state/fields";
import { BATCHES, CANARIES, MODEL, PRETRAINING } from "../state/training";
import type { SentCommand, SentFiles } from "../workers/sent-files";
import {
  canaryTrainingCountWorker,
  canaryTrainingWorker,
  federatedTrainingCountWorker,
  federatedTrainingWorker,
  trainingCountWorker,
  trainingWorker,
} from "../workers/spawn";
import {
  type CanaryTrainingQuestion,
  canaryQuestionOf,
  type FederatedTrainingQuestion,
  federatedQuestionOf,
  questionOf,
  type TrainingQuestion,
} from "./question";

/** Types of a protocol. */
export interface Kind {
  question: { model: string };
  /** What the models so far show. */
  found: object;
  /** One training as it is watched. */
  watched: object;
  answer: object;
  /** What the settings stand for. */
  overview: TrainingOverview;
}

export interface TwoWorlds extends Kind {
  question: TrainingQuestion;
  found: Found & { scores: ExpectedScoreBin[] };
  /** With the canary, and without. */
  watched: readonly [WatchedTraining, WatchedTraining];
  answer: TrainingAnswer;
  overview: TrainingOverview;
}

export interface OneRun extends Kind {
  question: CanaryTrainingQuestion;
  found: CanaryTrainingsSoFar;
  watched: CanariesAfter[];
  answer: CanaryTrainingAnswer;
  overview: TrainingOverview;
}

export interface Federated extends Kind {
  question: FederatedTrainingQuestion;
  found: FederatedTrainingsSoFar;
  watched: FederatedAfter[];
  answer: FederatedTrainingAnswer;
  overview: FederatedOverview;
}

/** The coordinator of a protocol's trainings. */
export type TrainerApi<K extends Kind> = CoordinatorApi<K["found"]> & {
  report(claim: number | undefined, elapsed_ms: number): K["answer"];
};

/** A worker that trains. */
export type TrainerCountApi<K extends Kind> = CounterApi & {
  watch(run: number): K["watched"];
  overview(command: SentCommand): K["overview"];
};

/** How models are trained and audited. */
export interface Protocol<K extends Kind> {
  /** Of its audit in the browser's storage. */
  readonly storage: string;
  coordinator(): WorkerLike;
  counter(): WorkerLike;
  questionOf(state: State): K["question"];
  /** Fields of its settings, whose labels stand for options. */
  readonly fields: Readonly<Record<string, Field>>;
  /** The words of its command, on the reader's files or on synthetic data. */
  wordsOf(asked: K["question"], files: DataNames, claim?: number): string[];
  /** Whether it trains with canaries that the page has optimised. */
  takesCanaries?(asked: K["question"]): boolean;
  /** What the page needs before it can ask the program, if anything. */
  lacks?(asked: K["question"], files: SentFiles | undefined): string | undefined;
  noiseOf(asked: K["question"]): number;
  /** ε that is claimed for a training, if any. */
  claimOf(asked: K["question"], ask: Accountants<K>): Promise<number | undefined>;
  /** Who claims it. */
  claimed(epsilon: string): string;
  /** Results of all planned trainings. */
  totalOf(asked: K["question"]): number;
  /** Trainings that can be watched. */
  watchedOf(asked: K["question"]): number;
  estimate(found: K["found"]): Estimate | undefined;
}

/** What a claim can be from. */
export interface Accountants<K extends Kind> {
  /** ε of Poisson batches. */
  poisson(length: Length): Promise<number>;
  overview(): Promise<K["overview"]>;
}

export interface Length {
  noise_multiplier: number;
  steps: number;
  epochs: number;
  /** Batches of an epoch that contain a record, where that is a parameter of the sampler. */
  uses_per_epoch?: number;
  delta: number;
}

const OF_POISSON = {
  claimed: (epsilon: string) => `Accountants that assume Poisson batches claim ε = ${epsilon}.`,
};

/** The same training several times. */
const REPEATED = {
  watchedOf: ({ repeats }: { repeats?: number }) => repeats ?? 1,
  estimate: ({ repeats, epsilon }: { repeats: number; epsilon: number | null }) =>
    epsilon === null ? undefined : { observations: repeats, epsilon },
};

export const TWO_WORLDS: Protocol<TwoWorlds> = {
  storage: "dpscope-training",
  coordinator: trainingWorker,
  counter: trainingCountWorker,
  questionOf,
  wordsOf: trainingWords,
  fields: { ...BATCHES, ...MODEL },
  noiseOf: ({ plan }) => plan.mechanism.noise_multiplier,
  claimOf: ({ plan: { mechanism, delta } }, ask) => ask.poisson({ ...mechanism, delta }),
  ...OF_POISSON,
  totalOf: ({ plan }) => plan.observations,
  watchedOf: ({ plan }) => plan.observations / 2,
  estimate: ({ result }) => result,
};

export const ONE_RUN: Protocol<OneRun> = {
  storage: "dpscope-training-one-run",
  coordinator: canaryTrainingWorker,
  counter: canaryTrainingCountWorker,
  questionOf: canaryQuestionOf,
  wordsOf: canaryTrainingWords,
  fields: { ...BATCHES, ...MODEL, ...CANARIES, ...PRETRAINING },
  takesCanaries: ({ canary_kind }) => canary_kind === "optimised",
  lacks: ({ canaries, canary_kind }, files) => {
    if (canary_kind !== "optimised") return undefined;
    const found = files?.canaries?.count;
    if (files?.data?.name === CANARY_FILE) {
      return `Your data set has the name of the optimised canaries, ${CANARY_FILE}: rename it.`;
    }
    if (found === canaries) return undefined;
    return found === undefined
      ? "Canaries must be optimised first."
      : "Canaries must be optimised again: their number has changed.";
  },
  noiseOf: ({ mechanism }) => mechanism.noise_multiplier,
  claimOf: ({ mechanism, delta }, ask) => ask.poisson({ ...mechanism, delta }),
  ...OF_POISSON,
  totalOf: ({ repeats, reference_models }) => (repeats ?? 1) + (reference_models ?? 0),
  ...REPEATED,
};

export const FEDERATED: Protocol<Federated> = {
  storage: "dpscope-training-federated",
  coordinator: federatedTrainingWorker,
  counter: federatedTrainingCountWorker,
  questionOf: federatedQuestionOf,
  wordsOf: federatedTrainingWords,
  fields: { ...CLIENTS, ...SERVER },
  lacks: ({ client_column }, files) =>
    client_column === undefined || files?.data !== undefined
      ? undefined
      : "A column of clients needs your own data set.",
  noiseOf: ({ noise_multiplier }) => noise_multiplier,
  claimOf: async (_, ask) => (await ask.overview()).accounted ?? undefined,
  claimed: (epsilon) => `Accountants prove ε ≤ ${epsilon} even if the attacker sees every update.`,
  totalOf: ({ repeats, without_canaries }) => (repeats ?? 1) + (without_canaries ?? 1),
  ...REPEATED,
};
