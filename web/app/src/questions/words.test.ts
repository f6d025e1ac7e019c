import { expect, test } from "vitest";
import { lineOf } from "../options/command";
import { COMMANDS, type Given } from "../state/given";
import { areExclusive, hintOf, named, optionOf, questionOf } from "./table";
import { stillNeeded, unknownOf, wordsOf } from "./words";

const none = new Map<string, string[]>();
const lineFor = (
  command: (typeof COMMANDS)[number],
  given: Given,
  paths: Record<string, string[]>,
) => lineOf(wordsOf(command, given, new Map(Object.entries(paths))).words);

test("a command has its files and options in the order of the table", () => {
  const both = { zero_out: ["out.npy"], target: ["in.npy"] };
  expect(lineFor("scores", { "scores.claim": "2" }, both)).toBe(
    "dpscope audit scores --target in.npy --zero-out out.npy --claim 2",
  );
  const given = { "one-run.pairs": "true", "one-run.direction": "lower", "scores.claim": "9" };
  expect(lineFor("one-run", given, { coins: ["c.npy"], scores: ["1.npy", "2.npy"] })).toBe(
    "dpscope audit one-run --scores 1.npy --scores 2.npy --coins c.npy --pairs --direction lower",
  );
});

test("values without the name of an option come first", () => {
  const given = { "outputs.noise_multiplier": "1" };
  expect(lineFor("outputs", given, { runs: ["runs.npz"] })).toBe(
    "dpscope audit outputs runs.npz --noise-multiplier 1",
  );
  expect(lineFor("outputs", {}, { runs: ["-runs.npz"] })).toBe("dpscope audit outputs ./-runs.npz");
});

test("defaults are left out, also those that only the help names", () => {
  const given = {
    "scores.delta": "1e-5",
    "scores.significance": "0.05",
    "scores.threshold_rule": "split",
    "scores.count_non_finite": "false",
    "scores.claim": " ",
  };
  expect(wordsOf("scores", given, none).words).toEqual(["audit", "scores"]);
  const other = { ...given, "scores.delta": "1e-6" };
  expect(wordsOf("scores", other, none).words).toEqual(["audit", "scores", "--delta", "1e-6"]);
});

test("a name cannot leave its argument, and a value that begins with a hyphen is no option", () => {
  const hostile = { target: ["in.npy"], zero_out: ["a'; rm -rf $(x).npy"] };
  expect(lineFor("scores", {}, hostile)).toBe(
    "dpscope audit scores --target in.npy --zero-out 'a'\\''; rm -rf $(x).npy'",
  );
  expect(lineFor("federated", { "federated.control_cosine": "-0.25" }, {})).toBe(
    "dpscope audit federated --control-cosine=-0.25",
  );
});

test("of options that exclude each other files come first, and the rest is not used", () => {
  const given = { "one-run.delta": "1e-6", "one-run.guesses": "60", "one-run.claim": "2" };
  const { words, excluded } = wordsOf("one-run", given, new Map([["plan", ["plan"]]]));
  expect(words).toEqual(["audit", "one-run", "--plan", "plan", "--claim", "2"]);
  expect(excluded.get("guesses")?.name).toBe("plan");
  const sizes = { "scores.dataset_size": "1000", "scores.steps": "10" };
  const steps = wordsOf("scores", sizes, none);
  expect(steps.words).toEqual(["audit", "scores", "--steps", "10"]);
  expect([...steps.excluded.keys()]).toEqual(["dataset_size"]);
  const later = wordsOf("one-run", { "one-run.guesses_in": "9" }, none);
  expect(later.excluded.get("guesses")?.name).toBe("guesses_in");
});

test("what is missing is named", () => {
  const needed = (command: (typeof COMMANDS)[number], given: Given, ...names: string[]) =>
    stillNeeded(command, given, new Map(names.map((name) => [name, ["a.npy"]])));
  for (const command of COMMANDS) expect(needed(command, {})).toContain("appear here");
  expect(needed("scores", {}, "target")).toBe("Now add: zero out");
  expect(needed("scores", {}, "target", "zero_out")).toBeUndefined();
  expect(needed("one-run", { "one-run.claim": "2", "one-run.guesses": "9" })).toContain("appear");
  expect(needed("one-run", { "one-run.correct": "9" })).toBeUndefined();
  expect(needed("one-run", {}, "scores")).toBeUndefined();
  expect(needed("counts", { "counts.false_positives": "0" })).toMatch(/^Now add: false negatives,/);
});

test("only options of the table are read from links, and files from none", () => {
  const given = { "one-run.guesses": "9", "one-run.scores": "a.npy", "one-run.guess": "9" };
  expect(unknownOf("one-run", given)).toEqual(["one-run.scores", "one-run.guess"]);
  expect(unknownOf("scores", given)).toEqual([]);
  expect(wordsOf("one-run", given, none).words).toEqual(["audit", "one-run", "--guesses", "9"]);
});

test("messages and hints name fields", () => {
  const message = "the argument '--set-size <S>' cannot be used with '--pairs'; see --help";
  expect(named("one-run", message)).toBe(
    "the argument 'Set size' cannot be used with 'Pairs'; see --help",
  );
  const guesses = optionOf("one-run", "guesses");
  expect(guesses && hintOf("one-run", guesses)).toBe(
    "Guess this many of the most confident canaries, fixed before the coins were drawn",
  );
});

test("messages keep code, and lose what stands for the value of an option", () => {
  for (const [message, label] of [
    ["Run `dpscope plan --coins FILE` first", "Run `dpscope plan --coins FILE` first"],
    ["name it with --coins FILE", "name it with Coins"],
    ["name it with --coins=FILE, or --canaries M|FILE", "name it with Coins, or Canaries"],
    ["without --plan No bound", "without Plan No bound"],
    ["`a` --coins `--coins` --scores <FILE>...", "`a` Coins `--coins` Scores"],
  ] as const) {
    expect(named("one-run", message)).toBe(label);
  }
});

test("options that exclude each other say so of both", () => {
  for (const command of COMMANDS) {
    const { options } = questionOf(command);
    for (const one of options) {
      for (const other of options) {
        const names = `${command}: ${one.name}, ${other.name}`;
        expect(areExclusive(one, other), names).toBe(areExclusive(other, one));
      }
    }
  }
});

test("every option that excludes another is in the table", () => {
  for (const command of COMMANDS) {
    const { options } = questionOf(command);
    const conflicts = options.flatMap((option) => option.conflicts ?? []);
    expect(conflicts.filter((name) => optionOf(command, name) === undefined)).toEqual([]);
  }
});
