import type { SeeSession } from "../../see/session";
import type { Sampler, State } from "../../state/fields";

/** Why each sampler leaks, or does not. */
export const WHY: Partial<Record<Sampler, string>> = {
  shuffle:
    "In every epoch exactly one batch contains the target. One sum stands out, and the attacker only has to find the largest.",
  poisson:
    "The target joins each batch by chance: it may be in none, in one or in several. No sum has to stand out, and accountants rely on this uncertainty.",
  "balls-in-bins":
    "The target lands in one random batch, and so does every other record, independently: the size of a batch reveals nothing.",
  "partial-shuffle":
    "Only blocks are shuffled: the target stays near its place in the file, so the attacker only has to look there.",
  "batch-then-shuffle":
    "Batches keep their members; only their order changes. An attacker who knows the members sees the same leak as with a shuffle.",
  deterministic:
    "The target is always in the same batch. The attacker looks at one sum, and no uncertainty protects the target.",
};

/** The current stage, in a sentence. */
export function nowInWords(see: SeeSession, state: State): string {
  const { epoch, stage, index } = see;
  if (epoch === undefined) return "Drawing an epoch …";
  const number = index + 1;
  const where = [...epoch.target_batches].map((batch) => batch + 1);
  switch (stage.name) {
    case "file":
      return `Epoch ${number}. The records are in file order; the target record is marked.`;
    case "drawn":
      return where.length === 0
        ? `Epoch ${number}. The batches are drawn: the target is in none of them.`
        : `Epoch ${number}. The batches are drawn: the target is in batch ${where.join(" and ")}.`;
    case "outputs": {
      const value = signed(epoch.outputs_target[stage.shown - 1] ?? 0);
      return `Batch ${stage.shown} outputs ${value}: its sum plus noise.`;
    }
    case "scored": {
      const guess = (score: number) =>
        score > state.see_threshold ? "it was there" : "it was not";
      const [one, other] = [epoch.score_target, epoch.score_zero_out];
      return `Scores: ${signed(one)} with the target, and the attacker guesses ${guess(one)}; ${signed(other)} without it, and the guess is ${guess(other)}.`;
    }
  }
}

/** With a real minus sign. */
function signed(value: number): string {
  return value.toFixed(2).replace("-", "−");
}
