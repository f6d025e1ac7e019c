/** Trainings that are interrupted lose nothing: reloads, sleeping tabs, other tabs, no storage, lost GPUs. */

import type { Page } from "@playwright/test";
import { expect, test } from "./page";

const TRAIN = "#v=1&view=train&train_noise=0.3&device=cpu";
const CANARIES = `${TRAIN}&train_protocol=one-run&train_steps=10&train_batch=20&train_canaries=20`;
const OPTIMISED = `${CANARIES}&train_kind=optimised&train_repeats=6`;

/** Every protocol, with more trainings than a test waits for. */
const PROTOCOLS = {
  "two worlds": `${TRAIN}&train_steps=6&train_batch=10&train_runs=20000`,
  "one run": `${CANARIES}&train_repeats=2000`,
  federated: `${TRAIN}&train_protocol=federated&train_clients=40&train_client_records=5&train_rounds=10&train_passes=2&train_client_canaries=40&train_client_repeats=300`,
};
const PROTOCOL = Object.entries(PROTOCOLS);

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" });

/** Starts what the link holds. */
async function started(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await button(page, "Train").click();
}

/** Models trained so far, or steps of canaries. */
async function more(page: Page, than: number, bar = "Models trained"): Promise<number> {
  const value = () =>
    page
      .getByRole("progressbar", { name: bar, exact: true })
      .evaluate((bar: HTMLProgressElement) => bar.value);
  await expect.poll(value, { timeout: 60_000 }).toBeGreaterThan(than);
  return value();
}

/** Waits for what the browser has stored under a name. */
async function stored(page: Page, name: string): Promise<void> {
  const isThere = (name: string) =>
    new Promise<boolean>((resolve) => {
      const opening = indexedDB.open("keyval-store");
      opening.onerror = () => resolve(false);
      opening.onsuccess = () => {
        const database = opening.result;
        if (!database.objectStoreNames.contains("keyval")) return resolve(false);
        const found = database.transaction("keyval").objectStore("keyval").count(name);
        found.onsuccess = () => resolve(found.result > 0);
        found.onerror = () => resolve(false);
      };
    });
  await expect.poll(() => page.evaluate(isThere, name)).toBe(true);
}

/** Starts a long optimisation of canaries, and reloads the page once a state is stored. */
async function interruptedOptimisation(page: Page): Promise<void> {
  await page.goto(`${OPTIMISED}&train_metasteps=1000`);
  await button(page, "Optimise canaries").click();
  await more(page, 0, "Steps");
  await stored(page, "dpscope-training-optimisation");
  await page.reload();
}

test("an optimisation of canaries continues after a reload and after it was cancelled", async ({
  page,
}) => {
  await interruptedOptimisation(page);
  await expect(page.getByText("Interrupted when the page closed.")).toBeVisible();
  await expect(page.getByRole("img", { name: /Objective of the canaries/ })).toBeVisible();
  const before = await more(page, 0, "Steps");
  await button(page, `Continue after step ${before}`).click();
  await more(page, before, "Steps");
  await button(page, "Cancel optimisation").click();
  await expect(page.getByText("Cancelled.", { exact: true })).toBeVisible();
  await expect(button(page, /^Continue after step/)).toBeVisible();
  await expect(page.getByRole("alert")).toContainText("must be optimised first");
});

test("optimised canaries are kept, and are offered wherever a command names them", async ({
  page,
}) => {
  await page.goto(`${OPTIMISED}&train_metasteps=4`);
  await button(page, "Optimise canaries").click();
  await expect(page.getByText("4 of 4 steps")).toBeVisible({ timeout: 60_000 });
  await stored(page, "dpscope-training-optimisation");
  await page.reload();
  await expect(page.getByText("4 of 4 steps")).toBeVisible();
  await expect(button(page, "Download canaries.npz")).toHaveCount(1);
  await button(page, "Train").click();
  await expect(page.locator("pre.report")).toContainText("20 canaries (canaries.npz)", {
    timeout: 60_000,
  });
  await expect(page.locator(".command code").last()).toContainText("--canary-file canaries.npz");
  const download = page.waitForEvent("download");
  await button(page, "Download canaries.npz").last().click();
  expect((await download).suggestedFilename()).toBe("canaries.npz");
  await expect(page.getByText("The settings have changed")).toHaveCount(0);
});

test("of two tabs one continues a saved optimisation, and nothing is lost", async ({
  page,
  context,
}) => {
  await interruptedOptimisation(page);
  const before = await more(page, 0, "Steps");
  const continues = /^Continue after step/;
  await expect(button(page, continues)).toBeVisible();
  const other = await context.newPage();
  await other.goto(`${OPTIMISED}&train_metasteps=1000`);
  await button(other, "Optimise canaries").click();
  await more(other, 0, "Steps");
  await expect(button(other, continues)).toHaveCount(0);
  await expect(other.locator(".training .note")).toContainText("Another tab is saving");
  await button(page, continues).click();
  const after = await more(page, before, "Steps");
  await expect(page.locator(".training .note")).toHaveCount(0);
  await button(page, "Cancel optimisation").click();
  await page.close();
  await other.reload();
  await expect(button(other, continues)).toBeVisible();
  expect(await more(other, 0, "Steps")).toBeGreaterThanOrEqual(before);
  await button(other, continues).click();
  await more(other, after, "Steps");
});

test("a paused audit of optimised canaries names the files that the program needs", async ({
  page,
}) => {
  await page.goto(`${OPTIMISED.replace("repeats=6", "repeats=2000")}&train_metasteps=2`);
  await button(page, "Optimise canaries").click();
  await expect(page.getByText("2 of 2 steps")).toBeVisible({ timeout: 60_000 });
  await button(page, "Train").click();
  await more(page, 0);
  await button(page, "Pause").click();
  const line = page.locator(".progress .command code");
  await expect(line).toHaveText("dpscope resume audit.dpscope --canary-file canaries.npz");
  const saving = page.waitForEvent("download");
  await button(page, "Save for the command line").click();
  expect((await saving).suggestedFilename()).toBe("audit.dpscope");
  const download = page.waitForEvent("download");
  await page.locator(".progress").getByRole("button", { name: "Download canaries.npz" }).click();
  expect((await download).suggestedFilename()).toBe("canaries.npz");
});

for (const [name, link] of PROTOCOL) {
  test(`${name} continues after the tab has slept, and a reload loses nothing`, async ({
    page,
  }) => {
    await started(page, link);
    const before = await more(page, 0);
    const browser = await page.context().newCDPSession(page);
    await browser.send("Page.setWebLifecycleState", { state: "frozen" });
    await browser.send("Page.setWebLifecycleState", { state: "active" });
    const after = await more(page, before);
    await expect(page.locator(".training .note")).toHaveCount(0);
    await button(page, "Pause").click();
    await expect(button(page, "Resume")).toBeVisible();
    await expect(button(page, "Save for the command line")).toBeVisible();
    await browser.send("Page.setWebLifecycleState", { state: "frozen" });
    await browser.send("Page.setWebLifecycleState", { state: "active" });
    await page.reload();
    await button(page, "Continue").click();
    await more(page, after - 1);
    await button(page, "Cancel").click();
    await expect(page.getByText("Cancelled. The result so far is an estimate.")).toBeVisible();
  });

  test(`another tab leaves the saved state of ${name} alone`, async ({ page, context }) => {
    await started(page, link);
    await more(page, 0);
    const other = await context.newPage();
    await started(other, link);
    await more(other, 0);
    await expect(other.locator(".training .note")).toContainText("Another tab is saving");
    await expect(page.locator(".training .note")).toHaveCount(0);
    await other.close();
    await button(page, "Pause").click();
    await page.reload();
    await expect(page.getByRole("heading", { name: "An interrupted audit" })).toBeVisible();
  });

  test(`without storage, ${name} is trained, and the page says that a reload loses it`, async ({
    page,
  }) => {
    await page.addInitScript(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await started(page, link);
    await expect(page.locator(".training .note")).toContainText(
      "The browser cannot save this work (QuotaExceededError): a reload loses it.",
    );
    await more(page, await more(page, 0));
  });

  test(`a GPU that is lost leaves the rest of ${name} to the CPU`, { tag: "@webgpu" }, async ({
    page,
  }) => {
    await started(page, link.replace("device=cpu", "device=gpu"));
    // in the first range: app-training.spec.ts loses one later
    await expect(page.locator("#train-head ~ p")).toContainText("WebGPU", { timeout: 60_000 });
    for (const worker of page.workers()) {
      if (!worker.url().includes("count")) continue;
      await worker.evaluate(() => {
        const data = { id: -1, name: "lose_gpu", args: [] };
        const lose = () => self.onmessage?.call(self as never, { data } as MessageEvent);
        setInterval(lose, 100);
      });
    }
    const note = page.locator(".training .note");
    await expect(note).toContainText("The GPU failed", { timeout: 60_000 });
    await more(page, 0);
  });
}

test("without storage canaries are optimised, and the page says that a reload loses them", async ({
  page,
}) => {
  await page.addInitScript(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await page.goto(`${OPTIMISED}&train_metasteps=4`);
  await button(page, "Optimise canaries").click();
  await expect(page.getByText("4 of 4 steps")).toBeVisible({ timeout: 60_000 });
  await expect(page.locator(".training .note")).toContainText("QuotaExceededError");
  await button(page, "Train").click();
  await expect(page.locator("pre.report")).toContainText("20 canaries (canaries.npz)", {
    timeout: 60_000,
  });
});

test("the reader's data are kept with the audit", async ({ page }) => {
  await page.goto(PROTOCOLS["two worlds"]);
  await page.getByText("Data, training and statistics").click();
  const rows = Array.from({ length: 200 }, (_, row) => `${row % 3},${row % 7},${row % 2}`);
  const file = { name: "mine.csv", mimeType: "text/csv", buffer: Buffer.from(rows.join("\n")) };
  await page.getByLabel("Data set and labels").setInputFiles(file);
  await button(page, "Train").click();
  await more(page, 0);
  await button(page, "Pause").click();
  await expect(page.locator(".progress .command code")).toHaveText(
    "dpscope resume audit.dpscope --data mine.csv",
  );
  await stored(page, "dpscope-training");
  await page.reload();
  await expect(page.getByText(/mlp on mine.csv/)).toBeVisible();
  await button(page, "Continue").click();
  await more(page, 0);
});

test("Start waits for the check of the settings on screen", async ({ page }) => {
  await page.goto(PROTOCOLS.federated);
  await expect(page.getByText(/location-like: 200 records/)).toBeVisible();
  const passes = page.getByLabel("Passes over the clients E", { exact: true });
  await passes.fill("3");
  await passes.press("Enter");
  await expect(page.getByRole("alert")).toContainText("a divisor of the number of rounds");
  await expect(page.getByRole("heading", { name: "Audit of the trainings" })).toHaveCount(0);
  await expect(button(page, "Train")).toBeDisabled();
  await passes.fill("2");
  await passes.press("Enter");
  await more(page, 0);
});

test("an audit that is resumed pauses the one that runs", async ({ page }) => {
  await started(page, `${PROTOCOLS["two worlds"]}&train_canaries=20&train_repeats=2000`);
  await more(page, 0);
  await button(page, "One run").click();
  await button(page, "Train").click();
  await more(page, 0);
  await button(page, "Two worlds").click();
  await button(page, "Resume").click();
  await expect(button(page, "Pause")).toBeVisible();
  await button(page, "One run").click();
  await expect(button(page, "Resume")).toBeVisible();
});
