/** Stages of an epoch: the records in file order, the batches drawn from them, the first `shown`
 * outputs, the scores. */
export type Stage =
  | { name: "file" }
  | { name: "drawn" }
  | { name: "outputs"; shown: number }
  | { name: "scored" };

/** The stage that follows; none after the last. */
export function stageAfter(stage: Stage, steps: number): Stage | undefined {
  switch (stage.name) {
    case "file":
      return { name: "drawn" };
    case "drawn":
      return { name: "outputs", shown: 1 };
    case "outputs":
      return stage.shown < steps ? { name: "outputs", shown: stage.shown + 1 } : { name: "scored" };
    case "scored":
      return undefined;
  }
}

/** How long a stage is shown, in milliseconds at the lowest speed. */
export function waitAfter(stage: Stage): number {
  return { file: 500, drawn: 1300, outputs: 420, scored: 1800 }[stage.name];
}

export function outputsShown(stage: Stage, steps: number): number {
  if (stage.name === "scored") return steps;
  return stage.name === "outputs" ? stage.shown : 0;
}
