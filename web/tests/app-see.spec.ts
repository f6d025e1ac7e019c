import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./page";

/** Waits for the records of the first epoch. */
async function isReady(page: Page): Promise<void> {
  await expect(page.locator(".scene .record.moving").first()).toBeAttached();
}

test.describe("see it happen", () => {
  test.use({ contextOptions: { reducedMotion: "reduce" } });

  test("epochs that are added again differ", async ({ page }) => {
    await page.goto("#v=1&view=see");
    await isReady(page);
    const wrong = page.locator(".errors strong").first();
    const add = page.getByRole("button", { name: "Add 2,000 epochs" });
    await add.click();
    await expect(page.locator(".errors")).toContainText("of 2,000 epochs");
    const once = Number(await wrong.textContent());
    await add.click();
    await expect(page.locator(".errors")).toContainText("of 4,000 epochs");
    expect(Number(await wrong.textContent())).not.toBe(2 * once);
  });

  test("an epoch advances step by step to its scores", async ({ page }) => {
    await page.goto("#v=1&view=see&see_steps=4");
    await isReady(page);
    const step = page.getByRole("button", { name: "Step", exact: true });
    await expect(page.locator(".now")).toContainText("The records are in file order");
    await step.click();
    await expect(page.locator(".now")).toContainText("the target is in batch");
    await expect(page.locator(".batch.hit")).toHaveCount(1);
    for (let batch = 1; batch <= 4; batch += 1) {
      await step.click();
      await expect(page.locator(".now")).toContainText(`Batch ${batch} outputs`);
      await expect(page.locator(".output.with")).toHaveCount(batch);
    }
    await step.click();
    await expect(page.locator(".now")).toContainText("the attacker guesses");
    await expect(page.locator(".errors")).toContainText("of 1 epoch ");
    await step.click();
    await expect(page.locator(".now")).toContainText("Epoch 2");
  });

  for (const sampler of [
    "persistent-shuffle",
    "poisson",
    "truncated-poisson",
    "fixed-size",
    "random-allocation",
    "balls-in-bins",
    "partial-shuffle",
    "sliding-buffer",
    "batch-then-shuffle",
    "deterministic",
  ]) {
    test(`${sampler} is drawn and scored`, async ({ page }) => {
      await page.goto(`#v=1&view=see&see_sampler=${sampler}`);
      await isReady(page);
      await page.getByRole("button", { name: "Add 2,000 epochs" }).click();
      await expect(page.locator(".errors")).toContainText("of 2,000 epochs");
      await expect(page.locator(".errors")).toContainText("ε ≈");
    });
  }

  for (const [size, width] of [
    ["a desktop", 1280],
    ["a phone", 390],
  ] as const) {
    test(`parameters of samplers are in the picture and in the link on ${size}`, async ({
      page,
    }) => {
      await page.setViewportSize({ width, height: 900 });
      await page.goto("#v=1&view=see");
      await isReady(page);
      const fields = {
        uses: page.getByLabel("Batches with a record, per epoch k", { exact: true }),
        most: page.getByLabel("Most records of a batch Bₘ", { exact: true }),
        buffer: page.getByLabel("Shuffle buffer size (optional)", { exact: true }),
      };
      const step = page.getByRole("button", { name: "Step", exact: true });
      for (const field of Object.values(fields)) await expect(field).toHaveCount(0);

      await page.getByRole("button", { name: "Random allocation" }).click();
      await fields.uses.fill("3");
      await fields.uses.press("Enter");
      await expect(page.locator(".record.in-file")).toHaveCount(10);
      await expect(page).toHaveURL(/see_sampler=random-allocation&see_uses=3/);
      await step.click();
      await expect(page.locator(".batch.hit")).toHaveCount(3);
      await expect(page.locator(".record.moving")).toHaveCount(30);
      await expect(fields.most).toHaveCount(0);

      await page.getByRole("button", { name: "Truncated Poisson" }).click();
      await expect(page.locator(".record.in-file")).toHaveCount(32);
      await fields.most.fill("4");
      await fields.most.press("Enter");
      await step.click();
      await expect(page.locator(".record.moving.dropped").first()).toBeAttached();
      await expect(page.locator(".player .legend")).toContainText("dropped");
      await expect(fields.uses).toHaveCount(0);

      await page.getByRole("button", { name: "Sliding buffer" }).click();
      await fields.buffer.fill("1");
      await fields.buffer.press("Enter");
      await step.click();
      // a buffer of one record keeps the file order
      await expect(page.locator(".now")).toContainText("the target is in batch 1.");
      await expect(page.locator(".record.dropped")).toHaveCount(0);
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBe(width);
      await expectAccessible(page);

      await page.getByRole("button", { name: "Fixed size" }).click();
      for (const field of Object.values(fields)) await expect(field).toHaveCount(0);
      await step.click();
      await expect(page.locator(".record.moving")).toHaveCount(32);
    });
  }

  test("settings that no epoch has are refused at their field", async ({ page }) => {
    for (const [link, field, problem] of [
      [
        "see_sampler=random-allocation&see_uses=9",
        "see_uses",
        "Batches with a record, per epoch = 9 lies outside 1..=8",
      ],
      [
        "see_sampler=truncated-poisson&see_max_batch=3",
        "see_max_batch",
        "Most records of a batch = 3 lies outside 4..=32",
      ],
      [
        "see_sampler=sliding-buffer&see_buffer=33",
        "see_buffer",
        "Shuffle buffer size (optional) = 33 lies outside 1..=32",
      ],
      ["see_dataset=3", "see_batch", "Batch size is 4 and dataset_size is 3"],
    ] as const) {
      await page.goto(`#v=1&view=see&${link}`);
      await expect(page.locator(`#${field}-hint`)).toContainText(problem);
      await expect(page.locator(".now")).toContainText("No epoch can be drawn");
      await expect(page.locator(".record")).toHaveCount(0);
    }
  });

  test("a claim about uniform subsets is tested with their own bounds", async ({ page }) => {
    for (const [sampler, verdict] of [
      ["random-allocation", "refuted"],
      ["truncated-poisson", "refuted"],
      ["fixed-size", "refuted"],
    ]) {
      await page.goto(`#v=1&view=see&see_sampler=${sampler}&see_claim=0.1`);
      await expect(page.locator(".own-claim")).toContainText(`Your claim ε = 0.10 is ${verdict}`);
    }
  });

  test("it starts moving when it is opened", async ({ page }) => {
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await page.goto("#v=1&view=check");
    await page.getByRole("link", { name: "See it happen" }).click();
    await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();
    await expect(page.locator(".now")).toHaveAttribute("aria-live", "off");
    await expect(page.locator(".now")).toContainText("The batches are drawn");
    await page.getByRole("button", { name: "Pause" }).click();
    await expect(page.locator(".now")).toHaveAttribute("aria-live", "polite");
  });

  test("it waits for readers who prefer no motion", async ({ page }) => {
    await page.goto("#v=1&view=see");
    await isReady(page);
    await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
    await expect(page.locator(".now")).toContainText("The records are in file order");
  });

  test("it plays and pauses", async ({ page }) => {
    await page.goto("#v=1&view=see");
    await isReady(page);
    await page.getByRole("button", { name: "32×" }).click();
    await page.getByRole("button", { name: "Play" }).click();
    await expect(page.locator(".errors")).toContainText(/of [1-9]\d+ epochs/);
    await page.getByRole("button", { name: "Pause" }).click();
    await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
  });

  test("batches follow from a dataset, and a claim has a verdict", async ({ page }) => {
    await page.goto("#v=1&view=see&see_dataset=22&see_claim=1");
    await isReady(page);
    await expect(page.getByLabel("Batches per epoch T", { exact: true })).toHaveValue("6");
    await expect(page.locator("#see_dataset-hint")).toContainText("24 records are drawn");
    await expect(page.locator(".own-claim")).toContainText("Your claim ε = 1.00 is refuted");
    const steps = page.getByLabel("Batches per epoch T", { exact: true });
    await steps.fill("5");
    await steps.press("Enter");
    await expect(page.getByLabel("Dataset size N")).toHaveValue("");
  });

  test("the same seed draws the same epoch", async ({ page }) => {
    const drawn = async () => {
      await page.goto("#v=1&view=see&seed=11");
      await isReady(page);
      await page.getByRole("button", { name: "Step", exact: true }).click();
      const narration = page.locator(".now");
      await expect(narration).toContainText("The batches are drawn");
      return narration.textContent();
    };
    const first = await drawn();
    await page.goto("about:blank");
    expect(await drawn()).toBe(first);
  });
});
