import type { WorkerLike } from "./calls";

export function theoryWorker(): WorkerLike {
  return new Worker(new URL("./theory.worker.ts", import.meta.url), {
    type: "module",
    name: "theory",
  });
}
