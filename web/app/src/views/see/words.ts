import type { Epoch } from "@dpscope/wasm/studies";
import seen from "../../../../numbers/see.json";
import { membersOf } from "../../see/epoch";
import type { SeeSession } from "../../see/session";
import type { Sampler, State } from "../../state/fields";

/** Why each sampler leaks, or does not. */
export const WHY: Readonly<Record<Sampler, string>> = seen;

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
