import { describe, expect, test } from "vitest";
import { numberText, parse } from "../../../fields/field";
import { consistent, FIELD_NAMES, type Field, fieldOf, initialState, type State } from "./fields";
import { MOST_GIVEN, OPTION } from "./given";
import { formatHash, parseHash } from "./hash";

/** Deterministic random words, so that the tests are reproducible. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomValue(name: Field, random: () => number): unknown {
  const field = fieldOf(name);
  const round = (below: number) => Math.floor(random() * below);
  if (field.initial === undefined && random() < 0.3) return undefined;
  if (field.kind === "seed") return String(Math.floor(random() * Number.MAX_SAFE_INTEGER));
  if (field.kind === "choice") return field.options[round(field.options.length)]?.[0];
  if (field.kind === "text")
    return ["user", "1,000,000", "a=b&c#d é", "x".repeat(field.most)][round(4)];
  if (field.kind === "set") return field.options.filter(() => random() < 0.5).join(",");
  const value = field.least + random() ** 8 * (field.most - field.least);
  return field.whole === true ? Math.round(value) : value;
}

function randomState(random: () => number): State {
  const pairs = FIELD_NAMES.map((name) => [name, randomValue(name, random)]);
  const given = Object.fromEntries(
    ["one-run.guesses", "scores.delta", "federated.design"]
      .filter(() => random() < 0.5)
      .map((name) => [
        name,
        ["100", "1e-5", "a=b&c#d é", "x".repeat(OPTION.most)][Math.floor(4 * random())],
      ]),
  );
  return consistent({ ...Object.fromEntries(pairs), given } as State);
}

describe("links", () => {
  test("every state comes back from its link", () => {
    const random = generator(1);
    for (let round = 0; round < 500; round += 1) {
      const state = randomState(random);
      expect(parseHash(formatHash(state))).toEqual({ state, messages: [] });
    }
  });

  test("the check above detects a link that omits a field", () => {
    const random = generator(2);
    const broken = (state: State) => formatHash(state).replace(/&seed=[0-9]+/, "");
    const states = Array.from({ length: 50 }, () => randomState(random));
    expect(states.every((state) => parseHash(broken(state)).state.seed === state.seed)).toBe(false);
  });

  test("every link has a state within its domains", () => {
    const random = generator(3);
    const parts = [
      "v=1",
      "&",
      "=",
      "%",
      "#",
      "steps",
      "1e400",
      "-1",
      "NaN",
      "é\u0000",
      "<b>",
      "seed",
    ];
    for (let round = 0; round < 2000; round += 1) {
      const length = Math.floor(random() * 12);
      const pick = () => parts[Math.floor(random() * parts.length)] ?? "";
      const hash = `${random() < 0.5 ? "#v=1&" : ""}${Array.from({ length }, pick).join("")}`;
      const { state } = parseHash(hash);
      for (const name of FIELD_NAMES) {
        const value = state[name];
        if (value !== undefined) expect(parse(fieldOf(name), numberText(value))).toEqual(value);
      }
    }
  });

  test.each([
    ["#v=3&steps=5", "of version “3”"],
    ["#steps=5", "names no version"],
    ["#v=2&v=2&steps=5", "names more than one version"],
    ["#v=1&v=2", "names more than one version"],
    [`#v=1&${"x".repeat(9000)}`, "too long"],
    ["#v=1&steps=0", "a whole number from 1 to 1e5"],
    ["#v=1&steps=1.5", "a whole number"],
    ["#v=1&noise_multiplier=Infinity", "a number from 0.2 to 20"],
    ["#v=1&delta=0x10", "a number from"],
    ["#v=1&sampler=__proto__", "one of shuffle"],
    ["#v=1&__proto__=1", "unknown field"],
    ["#v=1&constructor=1", "unknown field"],
    ["#v=1&seed=9007199254740993", "below 2^53"],
    ["#v=1&sampler=<img src=x onerror=alert(1)>", "one of shuffle"],
  ])("%s yields defaults and a message", (hash, message) => {
    const parsed = parseHash(hash);
    expect(parsed.state).toEqual(initialState());
    expect(parsed.messages.join(" ")).toContain(message);
  });

  test("a link with every field still opens", () => {
    const link =
      "#v=2&view=scores&noise_multiplier=0.79&steps=117&epochs=10&delta=1e-6&sampler=partial-shuffle&threat_model=target-canary&batch_size=128&dataset_size=14976&buffer_examples=5000&significance=0.01&seed=42&axis=epochs&observations=1e5&device=cpu&float_mode=fast&see_sampler=poisson&see_noise=0.5&see_steps=10&see_batch=2&see_threshold=1.5&check_dataset=50000&check_batch=512&check_epochs=3&check_noise=1.1&check_claim=8&check_delta=2e-6&check_loader=sliding-buffer&check_buffer=1e6&check_uses=4&check_max_batch=600&check_drop_last=yes&check_accountant=poisson&check_rate=0.01&check_steps=300&check_std=2.5&check_clip=0.5&check_noise_on=mean&check_adjacency=replace&claim=2&see_dataset=20&see_uses=3&see_max_batch=7&see_buffer=9&see_claim=3&run_canaries=500&run_guesses=50&run_mu=2&fed_noise=2&fed_canaries=200&fed_dimension=1e5&fed_presentations=4&syn_faults=O3%2CE1&syn_runs=200&syn_teachers=5&syn_gamma=0.5&syn_batch=8&syn_stop=epsilon&syn_iterations=50&syn_epsilon=2&syn_game=canaries&syn_claim=1.5&syn_scoring=count&uses_per_epoch=3&adjacency=replace&max_batch_size=140&matrix_strategy=blt&matrix_steps=300&matrix_participation=min-separation&matrix_epochs=3&matrix_separation=20&matrix_participations=4&matrix_groups=8&matrix_rate=0.2&matrix_bands=9&matrix_buffers=2&matrix_objective=largest&matrix_goal=noise&matrix_epsilon=2&matrix_noise=5&train_model=lenet&train_data=p100-like&train_noise=2&train_batch=50&train_steps=30&train_epochs=2&train_sampler=poisson&train_attacker=target-canary&train_runs=200&train_rate=0.5&train_clip=2&train_canary=dirac&train_buffer=40&train_max_batch=70&train_uses=2&train_protocol=one-run&train_canaries=300&train_kind=random&train_metasteps=20&train_repeats=5&train_references=2&train_score=white-box&train_guesses=40&train_guesses_in=20&train_guesses_out=10&train_pretrain=200&train_pretrain_epochs=3&train_pretrain_rate=0.2&train_momentum=0.9&train_clients=300&train_client_records=20&train_rounds=30&train_participation=poisson&train_passes=3&train_client_rate=0.2&train_cohort=40&train_client_attack=known-rounds&train_client_canaries=50&train_presentations=4&train_client_repeats=2&train_without=0&train_local_epochs=2&train_local_batch=5&train_local_rate=0.1&train_server_rate=0.5&train_server_momentum=0.5&train_concentration=0.3&workers=3&train_client_column=user+id&train_server_noise=banded&train_bands=4&train_inner_steps=60&question=counts";
    const { state, messages } = parseHash(link);
    expect(messages).toEqual([]);
    const pairs = (hash: string) => hash.slice(1).split("&").sort();
    expect(pairs(formatHash(state))).toEqual(pairs(link));
    expect(pairs(link)).toHaveLength(FIELD_NAMES.length + 1);
  });

  test("no link and an empty link are the defaults without a message", () => {
    expect(parseHash("")).toEqual({ state: initialState(), messages: [] });
    expect(parseHash("#v=1")).toEqual({ state: initialState(), messages: [] });
    expect(formatHash(initialState())).toBe("#v=2");
  });

  test("every field begins with a value of its domain", () => {
    for (const name of FIELD_NAMES) {
      const { initial } = fieldOf(name);
      if (initial !== undefined) expect(parse(fieldOf(name), numberText(initial))).toBe(initial);
    }
  });

  test("fields that links leave out have the defaults of the program when the links were made", () => {
    // if the program changes one, the page needs a new version of its links
    expect(initialState()).toMatchObject({
      sampler: "shuffle",
      uses_per_epoch: 1,
      adjacency: "zero-out",
      see_sampler: "shuffle",
      check_loader: "shuffle",
      check_adjacency: "add-remove",
      matrix_buffers: 3,
      matrix_objective: "mean",
      syn_runs: 1000,
      syn_teachers: 2,
      syn_gamma: 0.001,
      syn_batch: 4,
      syn_iterations: 100,
      train_sampler: "shuffle",
      train_uses: 1,
      train_clip: 1,
      train_canary: "random",
      train_kind: "mislabelled",
      train_references: 0,
      train_score: "final-loss",
      train_momentum: 0,
      train_pretrain_epochs: 1,
      train_client_records: 10,
      train_client_attack: "final-model",
      train_local_epochs: 5,
      train_local_batch: 10,
      train_local_rate: 0.5,
      train_server_rate: 1,
      train_server_momentum: 0.9,
      train_without: 1,
    });
  });

  test("the first of two values of a field is used, with a message", () => {
    const { state, messages } = parseHash("#v=1&steps=200&steps=300");
    expect(state.steps).toBe(200);
    expect(messages.join()).toContain("“steps” more than once");
  });

  test("a threat model that the sampler does not allow is replaced, with a message", () => {
    const { state, messages } = parseHash("#v=1&sampler=poisson&threat_model=worst-case");
    expect(state.threat_model).toBe("target-canary");
    expect(messages.join()).toContain("target-canary is used");
    expect(parseHash("#v=1&sampler=poisson")).toEqual({ state, messages: [] });
  });

  test("options are kept as typed, within limits; their names are checked where they are shown", () => {
    const { state, messages } = parseHash("#v=2&one-run.guesses=1e2&scores.any=%3Cb%3E&bgm.x=1");
    expect(state.given).toEqual({ "one-run.guesses": "1e2", "scores.any": "<b>" });
    expect(messages.join()).toContain("unknown field “bgm.x”");
    for (const text of ["", "x".repeat(OPTION.most + 1), "%00"]) {
      const parsed = parseHash(`#v=2&scores.claim=${text}`);
      expect(parsed.state.given).toEqual({});
      expect(parsed.messages.join()).toContain("text on one line");
    }
    const many = Array.from({ length: 60 }, (_, at) => {
      const letters = String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26));
      return `scores.${letters}=1`;
    });
    const crowded = parseHash(`#v=2&${many.join("&")}`);
    expect(Object.keys(crowded.state.given)).toHaveLength(MOST_GIVEN);
    expect(crowded.messages.join()).toContain(`more than ${MOST_GIVEN} options`);
  });

  test("one invalid field leaves the others", () => {
    const { state, messages } = parseHash("#v=1&steps=200&epochs=zero");
    expect(state).toEqual({ ...initialState(), steps: 200 });
    expect(messages).toHaveLength(1);
  });

  test("numbers have their shortest readable text", () => {
    expect([60_000, 1e6, 1e-5, 0.8, 2.5e5, 100, 0].map(numberText)).toEqual([
      "60000",
      "1e6",
      "1e-5",
      "0.8",
      "250000",
      "100",
      "0",
    ]);
  });
});
