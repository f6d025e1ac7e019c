import type { SeeSession } from "../../see/session";
import type { Sampler, State } from "../../state/fields";

/** Why it leaks, or does not: the point of each sampler. */
export const WHY: Partial<Record<Sampler, string>> = {
  shuffle:
    "Every epoch, exactly one batch holds the target and all others are known not to. One sum stands out, and the attacker only has to look for the largest.",
  poisson:
    "The target is in each batch by chance: in none, in one or in several. No sum has to stand out, and that doubt is what the accountant counts on.",
  "balls-in-bins":
    "The target is thrown into one batch, and so is every other record, each on its own: how full a batch is tells nothing.",
  "partial-shuffle":
    "Only blocks are shuffled: the target stays near its place in the file, and the attacker need only look there.",
  "batch-then-shuffle":
    "Batches keep their members and only change their order. An attacker who knows the members sees the same leak as with a shuffle.",
  deterministic:
    "The target is always in the same batch. The attacker looks at one sum, and no doubt helps the target.",
};

/** What happens now, in a sentence. */
export function nowInWords(see: SeeSession, state: State): string {
  const { epoch, stage, index } = see;
  if (epoch === undefined) return "Drawing an epoch …";
  const number = index + 1;
  const where = [...epoch.target_batches].map((batch) => batch + 1);
  switch (stage.name) {
    case "file":
      return `Epoch ${number}. The data lie in the file; the target record is marked.`;
    case "drawn":
      return where.length === 0
        ? `Epoch ${number}. The batches are drawn: the target is in none of them.`
        : `Epoch ${number}. The batches are drawn: the target falls into batch ${where.join(" and ")}.`;
    case "outputs": {
      const value = signed(epoch.outputs_target[stage.shown - 1] ?? 0);
      return `Batch ${stage.shown} gives out ${value}: its sum and the noise.`;
    }
    case "scored": {
      const says = (score: number) => (score > state.see_threshold ? "it was there" : "it was not");
      const [one, other] = [epoch.score_target, epoch.score_zero_out];
      return `Scores: ${signed(one)} with the target, and the attacker says ${says(one)}; ${signed(other)} without, and it says ${says(other)}.`;
    }
  }
}

/** With a real minus sign. */
function signed(value: number): string {
  return value.toFixed(2).replace("-", "−");
}
