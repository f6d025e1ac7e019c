import { numberText, parse } from "../../../fields/field";
import type { App, Explored } from "../app";
import {
  consistent,
  type Field,
  fieldOf,
  type Sampler,
  type State,
  type View,
} from "../state/fields";
import { formatHash } from "../state/hash";

/** The address that reproduces the screen; only its fragment where the rest opens on this machine alone. */
export function linkOf(app: App): string {
  return sharedLink(app.store.hash, location.href);
}

export function sharedLink(hash: string, address: string): string {
  const link = new URL(hash, address);
  const isLocal =
    link.protocol === "file:" ||
    /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(link.hostname);
  return isLocal ? link.hash : link.href;
}

/** The same state in another view. */
export function linkTo(app: Explored, view: View): string {
  return formatHash({ ...app.state, view });
}

type Training = Pick<State, "noise_multiplier" | "steps" | "epochs" | "delta">;

/** The state with this training in Explore, unless the training is outside the domain there. */
export function linkToTraining(
  state: State,
  training: Training,
  sampler: Sampler,
): string | undefined {
  const isAllowed = Object.entries(training).every(
    ([name, value]) => parse(fieldOf(name as Field), numberText(value)) !== undefined,
  );
  if (!isAllowed) return undefined;
  return formatHash(
    consistent({ ...state, ...training, dataset_size: undefined, sampler, view: "explore" }),
  );
}
