import type { WorkerLike } from "../../../protocol/protocol";

export function theoryWorker(): WorkerLike {
  return new Worker(new URL("./theory.worker.ts", import.meta.url), {
    type: "module",
    name: "theory",
  });
}

export function accountingWorker(): WorkerLike {
  return new Worker(new URL("./accounting.worker.ts", import.meta.url), {
    type: "module",
    name: "accounting",
  });
}

export function studiesWorker(): WorkerLike {
  return new Worker(new URL("./studies.worker.ts", import.meta.url), {
    type: "module",
    name: "studies",
  });
}

export function auditWorker(): WorkerLike {
  return new Worker(new URL("./audit.worker.ts", import.meta.url), {
    type: "module",
    name: "audit",
  });
}

export function countWorker(): WorkerLike {
  return new Worker(new URL("./count.worker.ts", import.meta.url), {
    type: "module",
    name: "count",
  });
}

export function oneShotWorker(): WorkerLike {
  return new Worker(new URL("./one-shot.worker.ts", import.meta.url), {
    type: "module",
    name: "one-shot",
  });
}

export function pateganWorker(): WorkerLike {
  return new Worker(new URL("./pategan.worker.ts", import.meta.url), {
    type: "module",
    name: "pategan",
  });
}

export function pateganCountWorker(): WorkerLike {
  return new Worker(new URL("./pategan-count.worker.ts", import.meta.url), {
    type: "module",
    name: "pategan-count",
  });
}

export function generatorWorker(): WorkerLike {
  return new Worker(new URL("./generator.worker.ts", import.meta.url), {
    type: "module",
    name: "generator",
  });
}

export function trainingWorker(): WorkerLike {
  return new Worker(new URL("./training.worker.ts", import.meta.url), {
    type: "module",
    name: "training",
  });
}

export function trainingCountWorker(): WorkerLike {
  return new Worker(new URL("./training-count.worker.ts", import.meta.url), {
    type: "module",
    name: "training-count",
  });
}

export function canaryTrainingWorker(): WorkerLike {
  return new Worker(new URL("./training-canaries.worker.ts", import.meta.url), {
    type: "module",
    name: "training-canaries",
  });
}

export function canaryTrainingCountWorker(): WorkerLike {
  return new Worker(new URL("./training-canaries-count.worker.ts", import.meta.url), {
    type: "module",
    name: "training-canaries-count",
  });
}

export function federatedTrainingWorker(): WorkerLike {
  return new Worker(new URL("./training-federated.worker.ts", import.meta.url), {
    type: "module",
    name: "training-federated",
  });
}

export function federatedTrainingCountWorker(): WorkerLike {
  return new Worker(new URL("./training-federated-count.worker.ts", import.meta.url), {
    type: "module",
    name: "training-federated-count",
  });
}

export function canaryOptimiserWorker(): WorkerLike {
  return new Worker(new URL("./training-optimiser.worker.ts", import.meta.url), {
    type: "module",
    name: "training-optimiser",
  });
}

export function filesWorker(): WorkerLike {
  return new Worker(new URL("./files.worker.ts", import.meta.url), {
    type: "module",
    name: "files",
  });
}

/** Workers of the bundles that compute what is not simulated. */
export const BUNDLES = {
  theory: theoryWorker,
  studies: studiesWorker,
  accounting: accountingWorker,
};
