import { expect, test } from "vitest";
import { RESUME } from "../copies/command";
import {
  federatedTrainingWords,
  optimizationWords,
  resumeCommand,
  trainingWords,
} from "../copies/trained";
import { lineOf } from "../options/command";
import { consistent, initialState, type State } from "../state/fields";
import { dataRoleOf } from "./files";
import { canaryQuestionOf, federatedQuestionOf, optimizationOf, questionOf } from "./question";

const stateOf = (part: Partial<State>): State => consistent({ ...initialState(), ...part });

test("an attacker that the sampler does not allow is the one that it does", () => {
  const threat = (part: Partial<State>) => questionOf(stateOf(part)).plan.mechanism.threat_model;
  expect(threat({})).toBe("partially-informed");
  expect(threat({ train_attacker: "target-canary" })).toBe("target-canary");
  expect(threat({ train_sampler: "poisson" })).toBe("target-canary");
});

test("samplers have their parameters, and no others", () => {
  const mechanism = (part: Partial<State>) => questionOf(stateOf(part)).plan.mechanism;
  const buffered = mechanism({ train_sampler: "sliding-buffer", train_buffer: 40 });
  expect(buffered.buffer_examples).toBe(40);
  expect(mechanism({ train_sampler: "shuffle", train_buffer: 40 }).buffer_examples).toBeUndefined();
  const truncated = { train_sampler: "truncated-poisson", train_max_batch: 120 } as const;
  expect(mechanism(truncated)).toMatchObject({ dataset_size: 2000, max_batch_size: 120 });
  expect(canaryQuestionOf(stateOf(truncated)).mechanism.max_batch_size).toBe(120);
  const command = lineOf(trainingWords(questionOf(stateOf(truncated)), {}));
  expect(command).toContain("--sampler truncated-poisson --max-batch-size 120");
  expect(mechanism({ train_sampler: "random-allocation" }).uses_per_epoch).toBe(1);
  expect(mechanism({ train_uses: 3 }).uses_per_epoch).toBeUndefined();
});

test("the command has as many records as fill the steps, each used k times", () => {
  const command = (train_uses: number) => {
    const state = stateOf({ train_sampler: "random-allocation", train_uses });
    return lineOf(trainingWords(questionOf(state), {}));
  };
  expect(command(1)).toContain("--records 2000 --batch-size 100");
  expect(command(1)).not.toContain("--uses-per-epoch");
  const of = "--noise-multiplier 0.8 --sampler random-allocation";
  expect(command(2)).toContain(`--records 1000 --batch-size 100 ${of} --uses-per-epoch 2`);
  // 20 = ⌈666 · 3 / 100⌉, and 667 records would take 21 steps
  expect(command(3)).toContain("--records 666 --batch-size 100");
});

test("participation has its own parameter alone", () => {
  const asked = (train_participation: State["train_participation"]) =>
    federatedQuestionOf(stateOf({ train_participation }));
  expect(asked("epochs")).toMatchObject({ participation: "epochs", epochs: 5 });
  expect(asked("poisson")).toMatchObject({ sampling_rate: 0.1 });
  expect(asked("poisson").epochs).toBeUndefined();
  expect(asked("fixed-size")).toMatchObject({ cohort: 100 });
});

test("clients of a column are not divided, and bands belong to banded noise", () => {
  const asked = (part: Partial<State>) => federatedQuestionOf(stateOf(part));
  const column = asked({ train_client_column: "user id", train_concentration: 0.5 });
  expect(column).toMatchObject({ client_column: "user id" });
  for (const name of ["clients", "records_per_client", "concentration"]) {
    expect(column).not.toHaveProperty(name);
  }
  expect(lineOf(federatedTrainingWords(column, { data: "mine.csv" }))).toContain(
    "--data mine.csv --client-column 'user id' --rounds",
  );
  expect(asked({ train_bands: 3 })).not.toHaveProperty("bands");
  const banded = asked({ train_server_noise: "banded", train_bands: 3 });
  expect(banded).toMatchObject({ noise_mechanism: "banded", bands: 3 });
  const tree = asked({ train_server_noise: "tree" });
  expect(tree).not.toHaveProperty("bands");
  expect(lineOf(federatedTrainingWords(tree, {}))).toContain("--noise-mechanism tree");
});

test("canaries are optimised for the model that is audited", () => {
  const asked = optimizationOf(stateOf({ train_model: "lenet", train_inner_steps: 60 }));
  expect(asked).toMatchObject({ model: "lenet", data: "fmnist-like", steps: 60 });
  const command = lineOf(optimizationWords(asked, {}));
  expect(command).toContain("dpscope canaries optimise --model lenet --count 200 --metasteps 40");
  expect(command).toContain("--steps 60");
  expect(optimizationOf(stateOf({}))).not.toHaveProperty("steps");
});

test("an audit is resumed with the files that it was started with", () => {
  expect(resumeCommand()).toBe(RESUME);
  const files = { data: "my data.csv", labels: "y.npy" };
  expect(resumeCommand(files, "canaries.npz")).toBe(
    "dpscope resume audit.dpscope --data 'my data.csv' --labels y.npy --canary-file canaries.npz",
  );
});

test("both worlds have the same number of trainings", () => {
  expect(questionOf(stateOf({ train_runs: 41 })).plan.observations).toBe(42);
});

test("LeNet-5 has images, whatever was chosen for the MLP", () => {
  const { data } = questionOf(stateOf({ train_model: "lenet", train_data: "location-like" }));
  expect(data).toBe("fmnist-like");
});

test("the command names the reader's files, and what differs from the program's defaults", () => {
  const asked = questionOf(stateOf({ train_rate: 0.5, train_canary: "dirac", train_clip: 2 }));
  const files = { data: "my data.csv", labels: "labels.npy" };
  const command = lineOf(trainingWords(asked, files, 1.5));
  for (const part of [
    "--data 'my data.csv' --labels labels.npy",
    "--records 2000 --batch-size 100",
    "--clip-norm 2 --learning-rate 0.5 --canary dirac",
    "--runs 600 --claim 1.5 --seed 1",
  ]) {
    expect(command).toContain(part);
  }
  expect(command).not.toContain("--epochs");
});

test("labels are known by their names", () => {
  for (const name of ["train-labels-idx1-ubyte.gz", "labels.npy", "y.npy", "y_train.csv"]) {
    expect(dataRoleOf(name), name).toBe("labels");
  }
  for (const name of ["train-images-idx3-ubyte.gz", "x.npy", "mydata.csv", "purchase100"]) {
    expect(dataRoleOf(name), name).toBe("data");
  }
});
