import { expect, test } from "vitest";
import { questionOf as matrixOf } from "../matrix/question";
import { lineOf } from "../options/command";
import { audit_dpsgd } from "../options/options.json";
import { FIELDS, initialState, type State } from "../state/fields";
import { questionOf } from "../synthetic/question";
import {
  canaryQuestionOf,
  federatedQuestionOf,
  optimizationOf,
  questionOf as trainingOf,
} from "../training/question";
import { bibtex } from "./bibtex";
import {
  auditCommand,
  boundCommand,
  checkCommand,
  compareCommand,
  gaussianCommand,
} from "./command";
import { sharedLink } from "./link";
import { matrixCommand } from "./matrix";
import {
  canaryTrainingWords,
  federatedTrainingWords,
  optimizationWords,
  pateganCommand,
  trainingWords,
} from "./trained";

test("the significance of the page is the program's default", () => {
  expect(FIELDS.significance.initial).toBe(audit_dpsgd.significance.default);
});

test("commands reproduce what the page shows", () => {
  const state = initialState();
  expect(compareCommand(state)).toBe(
    "dpscope compare --noise-multiplier 1 --steps 100 --delta 1e-5 --seed 1",
  );
  expect(compareCommand({ ...state, significance: 0.01 })).toContain(" --significance 0.01 ");
  expect(boundCommand({ ...state, epochs: 5 }, "persistent-shuffle")).toBe(
    "dpscope bound persistent-shuffle --side lower --noise-multiplier 1 --steps 100 --epochs 5 --delta 1e-5",
  );
  expect(boundCommand(state, "shuffle-max-slice")).toBe(
    "dpscope bound shuffle --method max-slice --noise-multiplier 1 --steps 100 --delta 1e-5",
  );
  expect(boundCommand({ ...state, significance: 0.01 }, "pair-lower")).toBe(
    "dpscope bound pair --side lower --noise-multiplier 1 --steps 100 --delta 1e-5 --significance 0.01 --seed 1",
  );
  expect(auditCommand(state, "7", 1e6)).toBe(
    "dpscope audit bgm --noise-multiplier 1 --steps 100 --threat-model worst-case --observations 1e6 --delta 1e-5 --seed 7 --float-mode exact",
  );
  const claimed = { ...state, claim: 2.5 };
  expect(compareCommand(claimed)).toMatch(/ --seed 1 --claim 2\.5$/);
  expect(compareCommand({ ...claimed, sampler: "poisson" })).not.toContain("claim");
  expect(auditCommand(claimed, "7", 1e6)).toMatch(/ --float-mode exact --claim 2\.5$/);
  const buffered = { ...state, sampler: "partial-shuffle" as const, epochs: 3, significance: 0.01 };
  expect(auditCommand(buffered, "7", 1e6)).toContain(
    "--epochs 3 --sampler partial-shuffle --buffer-examples 1000 --batch-size 64 --threat-model worst-case --observations 1e6 --delta 1e-5 --significance 0.01",
  );
  expect(checkCommand(state)).toContain(
    "dpscope check --dataset-size 60000 --batch-size 256 --epochs 20 --noise-multiplier 0.8 --loader shuffle",
  );
});

test("uniform subsets are bounded by the command that their settings name", () => {
  const fixed: State = { ...initialState(), sampler: "fixed-size", adjacency: "replace" };
  expect(boundCommand(fixed, "fixed-size-lower")).toBe(
    "dpscope bound fixed-size --side lower --noise-multiplier 1 --steps 100 --adjacency replace --delta 1e-5",
  );
  expect(boundCommand(fixed, "poisson")).not.toContain("adjacency");
  const allocated: State = { ...initialState(), sampler: "random-allocation", uses_per_epoch: 4 };
  expect(boundCommand(allocated, "random-allocation")).toContain(" --uses-per-epoch 4 ");
  expect(boundCommand(allocated, "poisson")).toContain(" --sampling-rate 0.04 ");
  expect(auditCommand(allocated, "7", 1e6)).toContain(" --uses-per-epoch 4 ");
});

test("a description has the parameters of its sampler alone", () => {
  const state: State = { ...initialState(), check_uses: 3, check_max_batch: 300 };
  expect(checkCommand(state)).not.toMatch(/uses|max-batch/);
  expect(checkCommand({ ...state, check_loader: "truncated-poisson" })).toContain(
    " --loader truncated-poisson --max-batch-size 300 ",
  );
  expect(checkCommand({ ...state, check_loader: "random-allocation" })).toContain(
    " --loader random-allocation --uses-per-epoch 3 ",
  );
});

test("truncated batches are bounded and audited by their sizes", () => {
  const truncated: State = {
    ...initialState(),
    sampler: "truncated-poisson",
    threat_model: "target-canary",
    max_batch_size: 70,
  };
  expect(boundCommand(truncated, "truncated-poisson-lower")).toBe(
    "dpscope bound truncated-poisson --side lower --noise-multiplier 1 --dataset-size 6400 --batch-size 64 --max-batch-size 70 --delta 1e-5",
  );
  expect(boundCommand(truncated, "poisson")).toBe(
    "dpscope bound poisson --noise-multiplier 1 --dataset-size 6400 --batch-size 64 --delta 1e-5",
  );
  const replaced: State = { ...truncated, adjacency: "replace", dataset_size: 6390 };
  expect(boundCommand(replaced, "truncated-poisson")).toContain(
    " --dataset-size 6390 --batch-size 64 --max-batch-size 70 --adjacency replace ",
  );
  expect(auditCommand(truncated, "7", 1e6)).toBe(
    "dpscope audit bgm --noise-multiplier 1 --dataset-size 6400 --batch-size 64 --sampler truncated-poisson --max-batch-size 70 --threat-model target-canary --observations 1e6 --delta 1e-5 --seed 7 --float-mode exact",
  );
});

test("a name that begins with a hyphen is no option", () => {
  const state: State = { ...initialState(), train_client_column: "-id" };
  const training = federatedTrainingWords(federatedQuestionOf(state), { data: "-mine.csv" });
  expect(lineOf(training)).toContain(" --data ./-mine.csv --client-column=-id --");
});

test("runs of PATE-GAN are trained by the command of their settings", () => {
  const state = initialState();
  const command = (part: object) => pateganCommand(questionOf({ ...state, ...part }));
  expect(command({})).toBe("dpscope audit pategan --seed 1");
  expect(command({ syn_faults: "O3,U1,E1", syn_teachers: 5, syn_gamma: 0.5, seed: "9" })).toBe(
    "dpscope audit pategan --fault O3,U1,E1 --teachers 5 --gamma 0.5 --seed 9",
  );
  const stops = { syn_stop: "epsilon", syn_iterations: 7, syn_batch: 2, syn_runs: 400 };
  expect(command({ ...stops, delta: 1e-6, significance: 0.01 })).toBe(
    "dpscope audit pategan --runs 400 --batch-size 2 --epsilon 1 --delta 1e-6 --significance 0.01 --seed 1",
  );
});

test("the order of options is not that of the question", () => {
  const turned = <T extends object>(record: T): T => {
    const entries = Object.entries(record).map(([name, value]) => {
      return [name, typeof value === "object" ? turned(value as object) : value];
    });
    return Object.fromEntries(entries.reverse());
  };
  const same = <Q extends object>(asked: Q, command: (asked: Q) => string | string[]) =>
    expect(command(turned(asked))).toEqual(command(asked));
  const state: State = { ...initialState(), train_rate: 0.5, train_inner_steps: 9 };
  same(trainingOf(state), (asked) => trainingWords(asked, {}, 1));
  same(canaryQuestionOf(state), (asked) => canaryTrainingWords(asked, {}, 1));
  same(federatedQuestionOf(state), (asked) => federatedTrainingWords(asked, {}, 1));
  same(optimizationOf(state), (asked) => optimizationWords(asked, {}));
  same(questionOf(state), pateganCommand);
  same(matrixOf(state), matrixCommand);
});

test("a noisy sum is drawn by the command that its settings name", () => {
  const state = { ...initialState(), fed_canaries: 200, significance: 0.01 };
  expect(gaussianCommand(state, 1 / Math.sqrt(3))).toBe(
    "dpscope audit gaussian --noise-multiplier 0.5773502691896258 --dimension 1e6 --design poisson:200 --delta 1e-5 --significance 0.01 --seed 1",
  );
});

test.each([
  ["http://127.0.0.1:8080/", "#v=1"],
  ["http://localhost:1/a/", "#v=1"],
  ["http://[::1]:8080/", "#v=1"],
  ["file:///a/index.html", "#v=1"],
  ["https://example.org/app/", "https://example.org/app/#v=1"],
  ["https://127.example.org/", "https://127.example.org/#v=1"],
])("a link copied from %s is %s", (address, link) => {
  expect(sharedLink("#v=1", address)).toBe(link);
});

test("BibTeX names settings where no address can be shared", () => {
  const entry = bibtex("1", "#v=1&steps=5");
  expect(entry).toContain("note = {Settings: \\texttt{\\#v=1\\&steps=5}}");
  expect(entry).not.toContain("url");
});

test("a link cannot leave its BibTeX field", () => {
  expect(bibtex("1", "http://x/#v=1&a=}%")).toContain("\\url{http://x/\\#v=1\\&a=\\}\\%}");
});
