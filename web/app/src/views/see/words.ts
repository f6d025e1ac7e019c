import type { Epoch } from "@dpscope/wasm/studies";
import { membersOf } from "../../see/epoch";
import type { SeeSession } from "../../see/session";
import type { Sampler, State } from "../../state/fields";

/** Why each sampler leaks, or does not. */
export const WHY: Readonly<Record<Sampler, string>> = {
  shuffle:
    "In every epoch exactly one batch contains the target. One sum stands out, and the attacker only has to find the largest.",
  poisson:
    "The target joins each batch by chance: it may be in none, in one or in several. No sum has to stand out, and accountants rely on this uncertainty.",
  "persistent-shuffle":
    "One permutation is drawn before the first epoch and used in all of them: the target is in the same batch every time. One epoch leaks as much as with a shuffle; each further epoch repeats the same sum with new noise, so the attacker can average the noise away.",
  "truncated-poisson":
    "The target joins each batch by chance, as with Poisson. If more records are drawn than a batch may have, some are dropped at random, and the target may be one of them.",
  "fixed-size":
    "Each batch is a new random subset of the records, always of the same size: the target may be in none, in one or in several. It takes the place of another record, which Poisson accounting does not consider.",
  "random-allocation":
    "In every epoch the target is in exactly k batches, drawn at random for each record independently. The attacker knows how many sums stand out, but not which.",
  "sliding-buffer":
    "Each next record is drawn from a buffer, which is refilled in file order. The target is first in the file and tends to leave the buffer early, so the attacker looks at the first batches.",
  "balls-in-bins":
    "The target lands in one random batch, and so does every other record, independently: the size of a batch reveals nothing.",
  "partial-shuffle":
    "Only blocks are shuffled: the target stays near its place in the file, so the attacker only has to look there.",
  "batch-then-shuffle":
    "Batches keep their members; only their order changes. An attacker who chooses the members can mark the target’s batch, and then sees almost as much as without any shuffling.",
  deterministic:
    "The target is always in the same batch. The attacker looks at one sum, and no uncertainty protects the target.",
};

/** The current stage, in a sentence. */
export function nowInWords(see: SeeSession, state: State): string {
  const { epoch, stage, index } = see;
  if (epoch === undefined) {
    return see.failure === undefined
      ? "Drawing an epoch …"
      : "No epoch can be drawn with these settings.";
  }
  const number = index + 1;
  switch (stage.name) {
    case "file":
      return `Epoch ${number}. The records are in file order; the target record is marked.`;
    case "drawn":
      return `Epoch ${number}. The batches are drawn: the target is in ${whereIs(epoch)}.`;
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

/** The batches that contain the target, and those that dropped it. */
function whereIs(epoch: Epoch): string {
  const dropped = membersOf(epoch).filter(({ record, isDropped }) => record === 0 && isDropped);
  const without = dropped.map(({ batch }) => batch);
  const found = epoch.target_batches.length === 0 ? "none of them" : named(epoch.target_batches);
  return without.length === 0 ? found : `${found}, and was dropped from ${named(without)}`;
}

/** Batches in words, counted from 1. */
function named(batches: Iterable<number>): string {
  const numbers = [...batches].map((batch) => `${batch + 1}`);
  const last = numbers.at(-1) ?? "";
  if (numbers.length === 1) return `batch ${last}`;
  return `batches ${numbers.slice(0, -1).join(", ")} and ${last}`;
}

/** With a real minus sign. */
function signed(value: number): string {
  return value.toFixed(2).replace("-", "−");
}
