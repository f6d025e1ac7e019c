import type { Page, Worker } from "@playwright/test";
import native from "./native.json" with { type: "json" };
import { expect, test } from "./page";

async function start(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Start the audit" }).click();
}

/** Long enough for two shared cores. */
async function isDone(page: Page): Promise<void> {
  const under = page.locator(".outcome .under");
  await expect(under).toContainText("confidence", { timeout: 60_000 });
}

async function digest(page: Page): Promise<string | null> {
  await isDone(page);
  await page.locator(".outcome").getByRole("button", { name: "lower bound" }).click();
  const row = page.locator("#about-audit dl > div", { hasText: "digest" });
  return row.locator("dd").textContent();
}

function isGpu(): boolean {
  return test.info().project.name.startsWith("webgpu");
}

/** The worker that counts, once there is one. */
async function counter(page: Page): Promise<Worker> {
  const found = () => page.workers().find((worker) => worker.url().includes("count.worker"));
  await expect.poll(() => found() !== undefined).toBe(true);
  return found() as Worker;
}

/** The last takes long enough for something to break meanwhile. */
const LONG = native.at(-1);

for (const { link, histogram_digest, epsilon } of native.slice(0, -1)) {
  test(`equals the command line, to the last count: ${link}`, { tag: "@both" }, async ({
    page,
  }) => {
    await page.goto(`${link}&device=${isGpu() ? "gpu" : "cpu"}`);
    await start(page);
    expect(await digest(page)).toBe(histogram_digest);
    const shown = Number(
      (await page.locator(".outcome .big").textContent())?.replace(/[^\d.]/g, ""),
    );
    expect(shown).toBeLessThanOrEqual(epsilon);
    expect(epsilon - shown).toBeLessThan(1e-4);
    if (isGpu()) await expect(page.locator("#about-audit")).toContainText("webgpu");
    await expect(page.locator(".audit .note")).toHaveCount(0);
  });
}

test("cancelling ends the workers, and leaves an estimate", async ({ page }) => {
  await page.goto("#v=1&observations=1e7&device=cpu");
  await start(page);
  await expect(page.locator(".outcome")).toContainText("so far");
  await counter(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Cancelled.")).toBeVisible();
  const names = () => page.workers().filter((worker) => /count|audit/.test(worker.url()));
  await expect.poll(() => names().length).toBe(0);
  await expect(page.locator(".outcome .sign")).toHaveText("ε ≈");
  await expect(page.locator(".outcome .under")).toContainText(
    "ended before all observations were counted",
  );
});

test("focus stays on the buttons of the audit", async ({ page }) => {
  await page.goto("#v=1&observations=1e8&device=cpu");
  await page.getByRole("button", { name: "Start the audit" }).focus();
  await page.keyboard.press("Enter");
  const cancel = page.getByRole("button", { name: "Cancel" });
  await expect(cancel).toBeFocused();
  await expect(page.locator(".bar-row")).toContainText("left");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Audit again" })).toBeFocused();
});

test("auditing again draws a new seed and says so", async ({ page }) => {
  await page.goto("#v=1&observations=2000&device=cpu");
  await start(page);
  await isDone(page);
  await expect(page.locator(".verdict")).toContainText("can show at most ε =");
  await expect(page.locator(".verdict")).toContainText(/Ten times .* would add about \d/s);
  await expect(page.locator(".progress .small").first()).toContainText("seed 1");
  await expect(page.getByText("Auditing again draws a new seed.")).toBeVisible();
  await page.getByRole("button", { name: "Audit again" }).click();
  await expect(page.getByText("This audit draws with a new seed.")).toBeVisible();
  await isDone(page);
  await expect(page).toHaveURL(/[&]seed=[0-9]{3,}/);
  const [, seed] = /seed=(\d+)/.exec(page.url()) ?? [];
  await expect(page.locator(".command code")).toContainText(`--seed ${seed}`);
});

test("a claim above all that could be shown is inconclusive", async ({ page }) => {
  await page.goto("#v=1&observations=2000&device=cpu&claim=8");
  await start(page);
  await isDone(page);
  const verdict = page.locator(".verdict");
  await expect(verdict.locator("strong")).toHaveText("inconclusive");
  await expect(verdict).toContainText("it was not tested");
});

test("the time is shown before the start, measured here or by the last audit", async ({ page }) => {
  await page.goto("#v=1&observations=1e7&device=cpu");
  const hint = page.locator(".audit .choices .expected");
  await expect(hint).toBeEmpty();
  await hint.scrollIntoViewIfNeeded();
  await expect(hint).toContainText(/Takes about \d+ (s|min) on \d+ CPU worker/);
  expect(await page.evaluate(() => localStorage.getItem("dpscope-rates"))).toContain("cpu");
  await page.evaluate(() => {
    const cpu = `cpu ${Math.max(1, Math.min(32, navigator.hardwareConcurrency) - 1)}`; // one is left
    localStorage.setItem("dpscope-rates", JSON.stringify({ [cpu]: 1e7 }));
  });
  await page.reload();
  await expect(hint).toContainText("Takes about 2 min");
});

test("Enter audits the number that was just typed", async ({ page }) => {
  await page.goto("#v=1&observations=20000&device=cpu");
  await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
  const typed = page.locator("#observations");
  await typed.fill("4000");
  await typed.press("Enter");
  await isDone(page);
  await expect(page.locator(".command code")).toContainText("--observations 4000");
});

for (const width of [390, 820, 1000, 1440]) {
  test(`charts are displayed at their drawn size: ${width}`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("#v=1&observations=2000&device=cpu");
    await start(page);
    await isDone(page);
    const scales = () =>
      page.locator(".charts svg.chart").evaluateAll((charts) =>
        charts.map((chart) => {
          const drawn = (chart as SVGSVGElement).viewBox.baseVal.width;
          return Math.round(10 * (chart.getBoundingClientRect().width / drawn)) / 10;
        }),
      );
    await expect.poll(scales).toEqual([1, 1]);
  });
}

test("a paused audit can be saved and resumed", async ({ page }) => {
  await page.goto("#v=1&observations=8e6&device=cpu");
  await start(page);
  await expect(page.locator(".outcome")).toContainText("so far");
  await page.getByRole("button", { name: "Pause" }).click();
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save for the command line" }).click();
  expect((await saving).suggestedFilename()).toBe("audit.dpscope");
  await page.getByRole("button", { name: "Resume" }).click();
  await isDone(page);
});

test("a crashed worker is replaced, and nothing is lost", async ({ page, heard }) => {
  await page.goto(`${LONG?.link}&device=cpu`);
  await start(page);
  const worker = await counter(page);
  await page.getByRole("button", { name: "Pause" }).click();
  await worker.evaluate(() => {
    setTimeout(() => {
      throw new Error("pulled out");
    });
  });
  await expect.poll(() => page.workers().includes(worker)).toBe(false);
  await page.getByRole("button", { name: "Resume" }).click();
  expect(await digest(page)).toBe(LONG?.histogram_digest);
  await expect(page.locator(".audit .note")).toContainText("its observations are counted again");
  heard.length = 0;
});

for (const how of ["throws", "closes without a word"]) {
  test(`a worker that ${how} during its work is replaced, and nothing is lost`, async ({
    page,
    heard,
  }) => {
    await page.goto(`${LONG?.link}&device=cpu`);
    await start(page);
    const worker = await counter(page);
    // The next range that it is given is lost with it.
    await worker.evaluate((isThrown) => {
      const before = self.onmessage;
      self.onmessage = (event) => {
        if (event.data.name !== "count") before?.call(self as never, event);
        else if (isThrown) throw new Error("pulled out");
        else self.close();
      };
    }, how === "throws");
    expect(await digest(page)).toBe(LONG?.histogram_digest);
    await expect(page.locator(".audit .note")).toContainText("its observations are counted again");
    expect(page.workers()).not.toContain(worker);
    heard.length = 0;
  });
}

test("a GPU that is lost leaves the rest to the CPU, with the same figure", {
  tag: "@webgpu",
}, async ({ page }) => {
  await page.goto(`${LONG?.link}&device=gpu`);
  await start(page);
  const worker = await counter(page);
  await worker.evaluate(() => {
    const data = { id: -1, name: "lose_gpu", args: [] };
    const lose = () => self.onmessage?.call(self as never, { data } as MessageEvent);
    setInterval(lose, 100);
  });
  expect(await digest(page)).toBe(LONG?.histogram_digest);
  await expect(page.locator(".audit .note")).toContainText("The GPU failed");
});

test("without WebGPU the page says so and counts by CPU", { tag: "@cpu" }, async ({ page }) => {
  await page.goto("#v=1&observations=20000&device=gpu");
  await start(page);
  await expect(page.locator(".audit .note")).toContainText("WebGPU is not available");
  await isDone(page);
  await expect(page.locator(".audit .head")).toContainText("CPU");
});

test("an audit that cannot start reports the reason", async ({ page }) => {
  await page.goto("#v=1&steps=100000&epochs=1000");
  await start(page);
  await expect(page.locator(".audit .failure")).toContainText("fewer steps or epochs");
});

test.describe("without the offline cache", () => {
  test.use({ serviceWorkers: "block" }); // else the cache may have the module first

  test("an audit that cannot be compared with a claim reports the reason", async ({
    page,
    heard,
  }) => {
    await page.route(/dpscope_studies.*\.wasm$/, (route) => route.abort());
    await page.goto("#v=1&observations=20000&device=cpu");
    await start(page);
    await isDone(page);
    await expect(page.locator(".audit .verdict .failure")).toContainText("Reload the page");
    heard.length = 0;
  });
});

test("the settings of an audit stay visible when the training changes", async ({ page }) => {
  await page.goto("#v=1&observations=20000&device=cpu");
  await start(page);
  await isDone(page);
  await page.getByLabel("Preset").selectOption({ label: "SST-2" });
  await expect(page.locator(".audit .note")).toContainText("changed since");
  await expect(page.locator(".progress .small").first()).toContainText("T = 100");
});

test("the last point is drawn whole, and the confidence band is in the legend", async ({
  page,
}) => {
  await page.goto("#v=1&observations=20000&device=cpu");
  await start(page);
  await isDone(page);
  await expect(page.locator("#climb circle")).toHaveCount(1);
  await expect(page.locator("#climb svg circle")).toHaveCount(0); // that drawing clips
  await expect(page.locator("#trade-off path.band")).toHaveCount(1);
  await expect(page.locator("#trade-off + .legend")).toContainText("confidence band");
});
