/** Links of version 1, in which audits of recorded data had fields of the page's own. */

import { type NumberField, parse, type Value } from "../../../fields/field";
import { FIELDS } from "./fields";
import type { Command } from "./given";

/** Fields whose text is that of an option. */
const RENAMED: Readonly<Record<string, string>> = {
  scores_rule: "scores.threshold_rule",
  scores_higher: "scores.higher_means",
  scores_claim: "scores.claim",
  run_claim: "one-run.claim",
  fed_parameters: "federated.dimension",
  fed_attacker: "federated.attacker",
  fed_server_rounds: "federated.server_rounds",
  fed_inserted: "federated.canaries",
  fed_control: "federated.control_client",
  fed_control_cosine: "federated.control_cosine",
  fed_claim: "federated.claim",
};

const number = (least: number, most: number, whole = false): NumberField => {
  return { kind: "number", label: "", least, most, whole };
};
const CLAIM = number(0, 1e6);
/** Fields that were numbers. */
const NUMBERS: Readonly<Record<string, NumberField>> = {
  scores_claim: CLAIM,
  run_claim: CLAIM,
  run_mean: number(1, 1e9),
  run_slots: number(1, 1e9, true),
  run_inclusion: number(1e-9, 0.999_999),
  fed_parameters: number(2, 1e12, true),
  fed_server_rounds: number(1, 1e9, true),
  fed_inserted: number(1, 1e9, true),
  fed_control_cosine: number(-1, 1),
  fed_claim: CLAIM,
};

/** Views whose audits shared δ and significance with the rest of the page. */
const SHARING: readonly string[] = ["scores", "one-run", "federated"] satisfies Command[];

/** The same setting as a link of version 2, without numbers that are none, which are refused. */
export function upgraded(
  old: URLSearchParams,
  refuse: (name: string, text: string, field: NumberField) => void,
): URLSearchParams {
  const pairs = new URLSearchParams(old);
  const take = (name: string) => {
    const value = pairs.get(name);
    pairs.delete(name);
    return value;
  };
  for (const [name, field] of Object.entries(NUMBERS)) {
    const value = pairs.get(name);
    if (value === null || parse(field, value) !== undefined) continue;
    pairs.delete(name);
    refuse(name, value, field);
  }
  for (const [from, to] of Object.entries(RENAMED)) {
    const value = take(from);
    if (value !== null) pairs.set(to, value.replaceAll("_", "-"));
  }
  // these were not used without another field, but stayed in the link
  if (pairs.get("federated.attacker") !== "all-updates") pairs.delete("federated.server_rounds");
  if (!pairs.has("federated.control_client")) pairs.delete("federated.control_cosine");

  if (take("run_game") === "pairs") pairs.set("one-run.pairs", "true");
  if (take("run_higher") === "other") pairs.set("one-run.direction", "lower");
  // numbers that are not in the link are the defaults of version 1
  if (take("run_rule") === "fixed") {
    const [guesses, canaries] = (["run_guesses", "run_canaries"] as const).map((name): Value => {
      return parse(FIELDS[name], pairs.get(name) ?? "") ?? FIELDS[name].initial;
    });
    pairs.set("one-run.guesses", String(Math.min(Number(guesses), Number(canaries))));
  }
  const drawn = take("run_number");
  const [mean, slots, inclusion] = ["run_mean", "run_slots", "run_inclusion"].map(take);
  const designs = new Map([
    ["poisson", `poisson:${mean ?? 100}`],
    ["bernoulli", `bernoulli:${slots ?? 200}:${inclusion ?? 0.5}`],
  ]);
  const design = designs.get(drawn ?? "");
  if (design !== undefined) {
    pairs.set("one-run.design", design);
    pairs.set("federated.design", design);
  }
  const view = pairs.get("view") ?? "";
  for (const name of SHARING.includes(view) ? (["delta", "significance"] as const) : []) {
    const value = pairs.get(name);
    // the page refuses its own field
    const isNumber = value !== null && parse(FIELDS[name], value) !== undefined;
    if (isNumber) pairs.set(`${view}.${name}`, value);
  }
  return pairs;
}
