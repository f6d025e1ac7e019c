import type { WorkerLike } from "../../../protocol/protocol";

export const theoryWorker = (): WorkerLike =>
  new Worker(new URL("./theory.worker.ts", import.meta.url), { type: "module" });

export const accountingWorker = (): WorkerLike =>
  new Worker(new URL("./accounting.worker.ts", import.meta.url), { type: "module" });

export const studiesWorker = (): WorkerLike =>
  new Worker(new URL("./studies.worker.ts", import.meta.url), { type: "module" });

export const auditWorker = (): WorkerLike =>
  new Worker(new URL("./audit.worker.ts", import.meta.url), { type: "module" });

export const countWorker = (): WorkerLike =>
  new Worker(new URL("./count.worker.ts", import.meta.url), { type: "module" });

export const oneShotWorker = (): WorkerLike =>
  new Worker(new URL("./one-shot.worker.ts", import.meta.url), { type: "module" });

export const pateganWorker = (): WorkerLike =>
  new Worker(new URL("./pategan.worker.ts", import.meta.url), { type: "module" });

export const pateganCountWorker = (): WorkerLike =>
  new Worker(new URL("./pategan-count.worker.ts", import.meta.url), { type: "module" });

export const generatorWorker = (): WorkerLike =>
  new Worker(new URL("./generator.worker.ts", import.meta.url), { type: "module" });

export const trainingWorker = (): WorkerLike =>
  new Worker(new URL("./training.worker.ts", import.meta.url), { type: "module" });

export const trainingCountWorker = (): WorkerLike =>
  new Worker(new URL("./training-count.worker.ts", import.meta.url), { type: "module" });

export const canaryTrainingWorker = (): WorkerLike =>
  new Worker(new URL("./training-canaries.worker.ts", import.meta.url), { type: "module" });

export const canaryTrainingCountWorker = (): WorkerLike =>
  new Worker(new URL("./training-canaries-count.worker.ts", import.meta.url), { type: "module" });

export const federatedTrainingWorker = (): WorkerLike =>
  new Worker(new URL("./training-federated.worker.ts", import.meta.url), { type: "module" });

export const federatedTrainingCountWorker = (): WorkerLike =>
  new Worker(new URL("./training-federated-count.worker.ts", import.meta.url), { type: "module" });

export const canaryOptimiserWorker = (): WorkerLike =>
  new Worker(new URL("./training-optimiser.worker.ts", import.meta.url), { type: "module" });

export const filesWorker = (): WorkerLike =>
  new Worker(new URL("./files.worker.ts", import.meta.url), { type: "module" });

/** Workers of the bundles that compute what is not simulated. */
export const BUNDLES = {
  theory: theoryWorker,
  studies: studiesWorker,
  accounting: accountingWorker,
};
export type Bundles = typeof BUNDLES;
