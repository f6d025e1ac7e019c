import { planOf } from "../audit/plan";
import { factsOf, type LineName } from "../numbers/lines";
import { commandLine, type Options, withParameters } from "../options/command";
import { audit_bgm, audit_gaussian, bound, compare } from "../options/options.json";
import type { State } from "../state/fields";
import { hasAdjacency, hasUses, truncates } from "../state/samplers";
import { trainingOf } from "../theory/check";
import { recordsOf } from "../theory/setting";

function training(state: State): Options {
  const { noise_multiplier, steps, epochs, batch_size } = state;
  const length = truncates(state.sampler)
    ? { dataset_size: recordsOf(state), batch_size }
    : { steps };
  return { noise_multiplier, ...length, epochs };
}

/** The subject of `dpscope bound` for a line of the table. */
function subject(name: LineName): [command: string, options: Options] {
  const { cost, kind, sampler } = factsOf(name);
  if (cost === "draws") return ["bound pair", { side: kind }];
  if (sampler === "shuffle") return ["bound shuffle", { method: name.replace("shuffle-", "") }];
  return [`bound ${sampler}`, kind === "lower" ? { side: kind } : {}];
}

/** The options of uniform subsets for a line. */
function subsets(state: State, name: LineName): Options {
  const { sampler, uses_per_epoch, steps, adjacency, max_batch_size } = state;
  const bounded = factsOf(name).sampler;
  if (hasAdjacency(bounded)) {
    return { ...(truncates(bounded) ? { max_batch_size } : {}), adjacency };
  }
  if (!hasUses(sampler) || uses_per_epoch === 1) return {};
  return name === "poisson" ? { sampling_rate: uses_per_epoch / steps } : { uses_per_epoch };
}

/** The command that reproduces a line. */
export function boundCommand(state: State, name: LineName): string {
  const { delta, significance, seed } = state;
  const [command, options] = subject(name);
  const isDrawn = factsOf(name).cost === "draws";
  return commandLine(
    command,
    bound,
    {
      ...options,
      ...training(state),
      ...subsets(state, name),
      delta,
      ...(isDrawn ? { significance, seed } : {}),
    },
    ["delta"],
  );
}

/** The command that reproduces the lines of every sampler; its verdict is about shuffled batches. */
export function compareCommand(state: State): string {
  const { delta, significance, seed, sampler } = state;
  const claim = sampler === "shuffle" ? state.claim : undefined;
  const options = { ...training(state), delta, significance, seed, claim };
  return commandLine("compare", compare, options, ["delta"]);
}

/** The command that reproduces the audit, exactly in exact mode. */
export function auditCommand(state: State, seed: string, observations: number): string {
  const { delta, significance, float_mode, claim } = state;
  const { steps: _, dataset_size: __, ...mechanism } = planOf(state).mechanism;
  const statistics = { observations, delta, significance, seed, float_mode, claim };
  const options = { ...training(state), ...mechanism, ...statistics };
  return commandLine("audit bgm", audit_bgm, options, ["delta", "float_mode"]);
}

/** The command that checks the same description. */
export function checkCommand(state: State): string {
  const training = { ...trainingOf(state) };
  return commandLine("check", {}, training);
}

/** The command that simulates the same noisy sum, whose noise multiplier the bundle names. */
export function gaussianCommand(state: State, noiseMultiplier: number): string {
  const { fed_dimension: dimension, fed_canaries, delta, significance, seed } = state;
  const design = withParameters("poisson", [fed_canaries]);
  const options = {
    noise_multiplier: noiseMultiplier,
    dimension,
    design,
    delta,
    significance,
    seed,
  };
  return commandLine("audit gaussian", audit_gaussian, options, ["design", "delta"]);
}

/** What the browser downloads to be resumed by the program. */
export const CHECKPOINT_FILE = "audit.dpscope";

/** The command that resumes a run without files. */
export const RESUME = `dpscope resume ${CHECKPOINT_FILE}`;
