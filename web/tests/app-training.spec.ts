import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./page";

async function started(page: Page): Promise<void> {
  await expect(page.getByText(/location-like: 60 records/)).toBeVisible();
  await page.getByRole("button", { name: "Train", exact: true }).click();
}

/** Models trained so far. */
function done(page: Page): Promise<number> {
  return page.locator(".training progress").evaluate((bar: HTMLProgressElement) => bar.value);
}

const FEW = "#v=1&view=train&train_runs=60&train_steps=6&train_batch=10&train_noise=0.3&device=cpu";

test("models are trained, watched and audited", async ({ page }) => {
  await page.goto(FEW);
  await expect(page.getByText(/location-like: 60 records of 446 features/)).toBeVisible();
  await page.getByRole("button", { name: "Train", exact: true }).click();
  const report = page.locator("pre.report");
  await expect(report).toContainText("trained", { timeout: 60_000 });
  await expect(report).toContainText("30 with the target record, 30 without");
  await expect(page.getByRole("img", { name: /Scores of both worlds/ })).toBeVisible();
  await expect(page.getByRole("img", { name: /ε of the audit against trainings/ })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Training 1 of each world" })).toBeVisible();
  await page.getByRole("button", { name: "Watch another" }).click();
  await expect(page.getByRole("heading", { name: "Training 2 of each world" })).toBeVisible();
  await expect(page.locator(".command code").first()).toContainText(
    "dpscope audit dpsgd --data location-like --records 60 --batch-size 10",
  );
  await expectAccessible(page);
});

test("an audit is paused, kept over a reload and continued", async ({ page }) => {
  await page.goto(FEW.replace("train_runs=60", "train_runs=20000"));
  await started(page);
  await expect.poll(() => done(page), { timeout: 30_000 }).toBeGreaterThan(100);
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Resume", exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "An interrupted audit" })).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect.poll(() => done(page), { timeout: 30_000 }).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Cancelled. The result so far is an estimate.")).toBeVisible();
});

test("the reader's data are trained on, and broken files are named", async ({ page }) => {
  await page.goto(FEW);
  await page.getByText("Data, training and statistics").click();
  const rows = Array.from({ length: 200 }, (_, row) => `${row % 3},${row % 7},${row % 2}`);
  const input = page.getByLabel("Data set and labels");
  const file = (name: string, text: string) => ({
    name,
    mimeType: "text/csv",
    buffer: Buffer.from(text),
  });
  await input.setInputFiles(file("mine.csv", rows.join("\n")));
  await expect(page.getByText(/mine.csv: 60 records of 2 features in\s+3 classes/)).toBeVisible();
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.locator("pre.report")).toContainText("mine.csv", { timeout: 60_000 });
  await expect(page.locator(".command code").first()).toContainText("--data mine.csv");
  await input.setInputFiles(file("mine.csv", "0,1\n1,x\n"));
  await expect(page.getByRole("alert")).toContainText("mine.csv");
  await expect(page.getByRole("button", { name: "Train again" })).toBeDisabled();
});

test("a link holds the whole training", async ({ page }) => {
  await page.goto(
    "#v=1&view=train&train_model=lenet&train_sampler=poisson&train_noise=2&train_runs=30&train_steps=3&train_batch=5",
  );
  await expect(
    page.getByText(/fmnist-like: 15 records of 784 features in\s+2 classes/),
  ).toBeVisible();
  await expect(page.getByLabel("Attacker")).toHaveValue("target-canary");
  await expect(page.getByLabel("Noise multiplier σ", { exact: true })).toHaveValue("2");
});

test("a sampler has its parameter, within its domain", async ({ page }) => {
  await page.goto(`${FEW}&train_sampler=sliding-buffer&train_buffer=40`);
  await expect(page.getByLabel("Shuffle buffer size", { exact: true })).toHaveValue("40");
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.locator("pre.report")).toContainText("sliding-buffer", { timeout: 60_000 });
  await expect(page.locator(".command code").first()).toContainText("--buffer-examples 40");
  await page.getByLabel("Shuffle buffer size", { exact: true }).fill("100");
  await page.getByLabel("Shuffle buffer size", { exact: true }).blur();
  await expect(page.getByRole("alert")).toContainText("buffer");
  await page.getByLabel("How batches are drawn").selectOption("truncated-poisson");
  await expect(page.getByLabel("Most records of a batch Bₘ", { exact: true })).toBeVisible();
  await page.getByLabel("Most records of a batch Bₘ", { exact: true }).fill("2");
  await page.getByLabel("Most records of a batch Bₘ", { exact: true }).blur();
  await expect(page.getByRole("alert")).toContainText("Most records of a batch");
});

test("WebGPU trains, and says which device it is", { tag: "@webgpu" }, async ({ page }) => {
  await page.goto(FEW.replace("device=cpu", "device=gpu"));
  await started(page);
  await expect(page.locator("pre.report")).toContainText("30 with the target record", {
    timeout: 80_000,
  });
  await expect(page.locator("pre.report")).toContainText("gpu (");
});

test("a GPU that is lost leaves the rest to the CPU", { tag: "@webgpu" }, async ({ page }) => {
  await page.goto(FEW.replace("device=cpu", "device=gpu").replace("runs=60", "runs=2000"));
  await started(page);
  await expect.poll(() => done(page), { timeout: 80_000 }).toBeGreaterThan(0);
  for (const worker of page.workers()) {
    if (!worker.url().includes("training-count")) continue;
    await worker.evaluate(() => {
      const data = { id: -1, name: "lose_gpu", args: [] };
      const lose = () => self.onmessage?.call(self as never, { data } as MessageEvent);
      setInterval(lose, 100);
    });
  }
  await expect(page.locator(".training .note")).toContainText("The GPU failed", {
    timeout: 60_000,
  });
  await expect(page.locator("pre.report")).toContainText("1,000 with the target record", {
    timeout: 60_000,
  });
});

test("without WebGPU the page says so and trains on the CPU", { tag: "@cpu" }, async ({ page }) => {
  await page.goto(FEW.replace("device=cpu", "device=gpu"));
  await started(page);
  await expect(page.locator(".training .note")).toContainText("WebGPU is not available");
  await expect(page.locator("pre.report")).toContainText("trained", { timeout: 60_000 });
});

const CANARIES =
  "#v=1&view=train&train_protocol=one-run&train_steps=10&train_batch=20&train_canaries=60&train_repeats=6&train_noise=0.3&device=cpu";

test("models with many canaries are trained, watched and audited", async ({ page }) => {
  await page.goto(CANARIES);
  await expect(page.getByText(/location-like: 140 records and 60 canaries/)).toBeVisible();
  await page.getByRole("button", { name: "Train", exact: true }).click();
  const report = page.locator("pre.report");
  await expect(report).toContainText("360 canaries, each included or not", { timeout: 60_000 });
  await expect(page.getByRole("img", { name: /Scores of the canaries/ })).toBeVisible();
  await expect(page.getByRole("img", { name: /ε of the audit against trainings/ })).toBeVisible();
  await expect(page.getByText(/Of 6 audited trainings: 360 canaries; AUC 0/)).toBeVisible();
  await expect(page.locator(".command code").first()).toContainText(
    "dpscope audit dpsgd --protocol one-run --data location-like --records 200 --batch-size 20",
  );
  await expect(page.getByRole("heading", { name: "Scores after 10 of 10 steps" })).toBeVisible();
  await page.getByLabel("Steps so far").fill("4");
  await expect(page.getByRole("heading", { name: "Scores after 4 of 10 steps" })).toBeVisible();
  await page.getByRole("button", { name: "Watch another" }).click();
  await expect(page.getByRole("heading", { name: "Training 2", exact: true })).toBeVisible();
  await expectAccessible(page);
});

test("an audit of many canaries is kept over a reload, beside that of two worlds", async ({
  page,
}) => {
  await page.goto(CANARIES.replace("repeats=6", "repeats=2000"));
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect.poll(() => done(page), { timeout: 30_000 }).toBeGreaterThan(3);
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Save for the command line" })).toBeVisible();
  await page.reload();
  await page.getByRole("button", { name: "Two worlds" }).click();
  await expect(page.getByLabel("Attacker")).toBeVisible();
  await expect(page.getByRole("heading", { name: "An interrupted audit" })).toHaveCount(0);
  await page.getByRole("button", { name: "One run" }).click();
  await expect(page.getByRole("heading", { name: "An interrupted audit" })).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect.poll(() => done(page), { timeout: 30_000 }).toBeGreaterThan(3);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Cancelled. The result so far is an estimate.")).toBeVisible();
});

test("more canaries than records are refused, as is a small file", async ({ page }) => {
  await page.goto(CANARIES.replace("canaries=60", "canaries=200"));
  await expect(page.getByRole("alert")).toContainText("200 canaries; an audit needs at least 5");
  await expect(page.getByRole("button", { name: "Train", exact: true })).toBeDisabled();
  await page.getByText("Data, training and statistics").click();
  const rows = Array.from({ length: 150 }, (_, row) => `${row % 3},${row % 7},${row}`);
  await page.getByLabel("Data set and labels").setInputFiles({
    name: "mine.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(rows.join("\n")),
  });
  await expect(page.getByRole("alert")).toContainText("mine.csv");
});

test("WebGPU trains models with canaries, and a lost one leaves them to the CPU", {
  tag: "@webgpu",
}, async ({ page }) => {
  await page.goto(CANARIES.replace("device=cpu", "device=gpu").replace("repeats=6", "repeats=400"));
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect.poll(() => done(page), { timeout: 80_000 }).toBeGreaterThan(0);
  for (const worker of page.workers()) {
    if (!worker.url().includes("training-canaries-count")) continue;
    await worker.evaluate(() => {
      const data = { id: -1, name: "lose_gpu", args: [] };
      const lose = () => self.onmessage?.call(self as never, { data } as MessageEvent);
      setInterval(lose, 100);
    });
  }
  await expect(page.locator(".training .note")).toContainText("The GPU failed", {
    timeout: 60_000,
  });
  const report = page.locator("pre.report");
  await expect(report).toContainText("24,000 canaries", { timeout: 60_000 });
  await expect(report).toContainText("gpu (");
});

test("many canaries fit a phone, in the dark", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(CANARIES);
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.locator("pre.report")).toContainText("360 canaries", { timeout: 60_000 });
  await expect(page.getByRole("heading", { name: "Scores after 10 of 10 steps" })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await expectAccessible(page);
});

const CLIENTS =
  "#v=1&view=train&train_protocol=federated&train_clients=40&train_client_records=5&train_rounds=10&train_passes=2&train_client_canaries=40&train_client_repeats=3&train_noise=0.3&device=cpu";

test("federated trainings with canary clients are executed, watched and audited", async ({
  page,
}) => {
  await page.goto(CLIENTS);
  await expect(page.getByText(/location-like: 200 records of 446 features/)).toBeVisible();
  await expect(page.getByText(/40 clients, 8.0 of them per round on average/)).toBeVisible();
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.locator("pre.report")).toContainText("user level", { timeout: 60_000 });
  await expect(page.getByText(/Accountants prove ε ≤ /)).toBeVisible();
  await expect(page.getByRole("img", { name: /Scores of the canary clients/ })).toBeVisible();
  await expect(page.getByText(/Of 3 audited trainings:/)).toBeVisible();
  await expect(page.locator(".command code").first()).toContainText(
    "dpscope audit fedavg --data location-like --clients 40 --records-per-client 5 --rounds 10",
  );
  await expect(page.getByRole("heading", { name: "Scores after 10 of 10 rounds" })).toBeVisible();
  await page.getByLabel("Rounds so far").fill("4");
  await expect(page.getByRole("heading", { name: "Scores after 5 of 10 rounds" })).toBeVisible();
  await expectAccessible(page);
});

test("a federated audit is kept over a reload, and bad rounds are refused", async ({ page }) => {
  await page.goto(CLIENTS.replace("repeats=3", "repeats=300"));
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect.poll(() => done(page), { timeout: 30_000 }).toBeGreaterThan(1);
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Save for the command line" })).toBeVisible();
  await page.reload();
  await expect(page.getByText(/of\s+301 trainings\s+are saved/)).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect.poll(() => done(page), { timeout: 30_000 }).toBeGreaterThan(1);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Cancelled. The result so far is an estimate.")).toBeVisible();
  await page.goto(CLIENTS.replace("passes=2", "passes=3"));
  await expect(page.getByRole("alert")).toContainText("a divisor of the number of rounds");
  await expect(page.getByRole("button", { name: /^Train/ })).toBeDisabled();
});

test("WebGPU executes federated trainings", { tag: "@webgpu" }, async ({ page }) => {
  await page.goto(CLIENTS.replace("device=cpu", "device=gpu"));
  await page.getByRole("button", { name: "Train", exact: true }).click();
  const report = page.locator("pre.report");
  await expect(report).toContainText("user level", { timeout: 80_000 });
  await expect(report).toContainText("gpu (");
});

test("noise of a tree and of a matrix has its own bound and command", async ({ page }) => {
  await page.goto(`${CLIENTS}&train_server_noise=tree`);
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.locator("pre.report")).toContainText("user level", { timeout: 60_000 });
  const command = page.locator(".command code").first();
  await expect(command).toContainText("--noise-mechanism tree");
  const tree = await page.getByText(/Accountants prove ε ≤ /).textContent();
  await page.getByLabel("Noise of the rounds").selectOption("banded");
  await page.getByRole("button", { name: "Train again" }).click();
  await expect(command).toContainText("--noise-mechanism banded:5", { timeout: 60_000 });
  await expect(page.getByText(/Accountants prove ε ≤ /)).not.toHaveText(tree ?? "");
  const bands = page.getByLabel("Bands of the matrix b", { exact: true });
  await bands.fill("11");
  await bands.press("Enter");
  await expect(page.getByRole("alert")).toContainText("from 1 to the number of rounds");
  await expect(page).toHaveURL(/train_bands=11/);
  expect(page.url()).toContain("train_server_noise=banded");
});

test("clients are those of a column of the reader's file", async ({ page }) => {
  await page.goto(`${CLIENTS}&train_client_column=user`);
  await expect(page.getByRole("alert")).toContainText("needs your own data set");
  await page.getByText("Data, training and statistics").click();
  const rows = Array.from({ length: 400 }, (_, row) =>
    [row % 3, row % 20, row % 3, row % 7].join(","),
  );
  const buffer = Buffer.from(["label,user,x,y", ...rows].join("\n"));
  const files = page.getByLabel("Data set and labels");
  await files.setInputFiles({ name: "mine.csv", mimeType: "text/csv", buffer });
  await expect(page.getByText(/40 held out[\s\S]*; 20 clients, 4.0 of them/)).toBeVisible();
  await expect(page.getByLabel("Clients n", { exact: true })).toHaveCount(0);
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.locator("pre.report")).toContainText("user level", { timeout: 60_000 });
  const command = page.locator(".command code").first();
  await expect(command).toContainText("--data mine.csv --client-column user --rounds 10");
  const column = page.getByLabel("Column of clients (optional)");
  await column.fill("who");
  await column.press("Enter");
  await expect(page.getByRole("alert")).toContainText("who");
  await column.fill("");
  await column.press("Enter");
  await expect(page.getByLabel("Clients n", { exact: true })).toBeVisible();
});

test("the reader chooses how many workers train", async ({ page }) => {
  await page.goto(`${CLIENTS.replace("repeats=3", "repeats=300")}&workers=2`);
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.locator("#train-head ~ p")).toHaveText("CPU: 2 workers");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Data, training and statistics").click();
  const workers = page.getByLabel("CPU workers (optional)");
  await workers.fill("1");
  await workers.press("Enter");
  await page.getByRole("button", { name: "Train again" }).click();
  await expect(page.locator("#train-head ~ p")).toHaveText("CPU: 1 worker");
});

test("canary clients fit a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(CLIENTS);
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.locator("pre.report")).toContainText("user level", { timeout: 60_000 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

const OPTIMISED = `${CANARIES.replace("canaries=60", "canaries=20")}&train_kind=optimised&train_metasteps=4`;

test("canaries are optimised in the page, then audited", async ({ page }) => {
  await page.goto(OPTIMISED);
  await expect(page.getByRole("alert")).toContainText("must be optimised first");
  await expect(page.getByRole("button", { name: "Train", exact: true })).toBeDisabled();
  await page.getByRole("button", { name: "Optimise canaries" }).click();
  await expect(page.getByText("4 of 4 steps")).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole("img", { name: /Objective of the canaries/ })).toBeVisible();
  const tiles = page.getByRole("img", { name: /12 canaries: their features/ });
  const painted = (canvas: HTMLCanvasElement) =>
    canvas
      .getContext("2d")
      ?.getImageData(0, 0, canvas.width, canvas.height)
      .data.some((value) => value > 0) === true;
  expect(await tiles.evaluate(painted)).toBe(true);
  await expect(page.locator(".command code").first()).toContainText(
    "dpscope canaries optimise --count 20 --metasteps 4 --out canaries.npz",
  );
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download canaries.npz" }).click();
  expect((await download).suggestedFilename()).toBe("canaries.npz");
  await page.getByRole("button", { name: "Train", exact: true }).click();
  const report = page.locator("pre.report");
  await expect(report).toContainText("20 canaries (canaries.npz)", { timeout: 60_000 });
  await expect(page.locator(".command code").last()).toContainText("--canary-file canaries.npz");
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.getByLabel("Canaries m", { exact: true }).fill("30");
  await page.getByLabel("Canaries m", { exact: true }).blur();
  await expect(page.getByRole("alert")).toContainText("must be optimised again");
});

test("canaries are optimised for LeNet-5", async ({ page }) => {
  const few = "train_canaries=20&train_metasteps=2&train_inner_steps=6";
  await page.goto(
    `#v=1&view=train&train_model=lenet&train_protocol=one-run&train_kind=optimised&${few}&train_steps=3&train_batch=20&train_repeats=2&device=cpu`,
  );
  await expect(page.getByText("LeNet-5 with average pooling")).toBeVisible();
  await page.getByRole("button", { name: "Optimise canaries" }).click();
  await expect(page.getByText("2 of 2 steps")).toBeVisible({ timeout: 80_000 });
  await expect(page.locator(".command code").first()).toContainText(
    "dpscope canaries optimise --model lenet --count 20 --metasteps 2 --out canaries.npz --steps 6",
  );
  await page.getByRole("button", { name: "Train", exact: true }).click();
  const report = page.locator("pre.report");
  await expect(report).toContainText("20 canaries (canaries.npz)", { timeout: 60_000 });
});

test("an optimisation of canaries is cancelled", async ({ page }) => {
  await page.goto(OPTIMISED.replace("metasteps=4", "metasteps=1000"));
  await page.getByRole("button", { name: "Optimise canaries" }).click();
  await expect(page.getByText(/^[1-9]\d* of 1,000 steps/)).toBeVisible({ timeout: 60_000 });
  await page.getByRole("button", { name: "Cancel optimisation" }).click();
  await expect(page.getByText("Cancelled.", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Optimise again" })).toBeVisible();
});
