/** Widgets in JupyterLab: values travel between page and kernel in both directions, without a network. */

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, type Page, test as plain } from "@playwright/test";
import values from "../calculators/agreement/values.json" with { type: "json" };
import { reasonOf } from "./built";
import { startJupyterLab } from "./jupyterlab";

const FOLDER = fileURLToPath(new URL("../pages/jupyterlab", import.meta.url));

/** ε of the program, with the default sampler and steps. */
const LOWER = values.find(
  ({ calculator, settings }) =>
    calculator === "epsilon" && settings.noise_multiplier === 1 && settings.sampler === "shuffle",
)?.expected.lower;

/** Opens a notebook; the page must log nothing and stay on its server. */
const test = plain.extend<{ open: (notebook: string) => Promise<void> }>({
  open: async ({ page }, use) => {
    const reason = reasonOf("jupyterlab");
    test.skip(reason !== undefined, reason);
    test.slow();
    const heard: string[] = [];
    const notebooks = mkdtempSync(join(tmpdir(), "notebooks-"));
    const { url, stop } = await startJupyterLab(FOLDER, notebooks);
    page.on("pageerror", (error) => heard.push(`thrown: ${error}`));
    page.on("console", (message) => {
      if (message.type() === "error") heard.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith("http") && `${origin}/` !== url)
        heard.push(`asked: ${request.url()}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) heard.push(`${response.status()} ${response.url()}`);
    });
    try {
      await use(async (notebook) => {
        cpSync(join(FOLDER, notebook), join(notebooks, notebook));
        await page.goto(`${url}lab/tree/${notebook}`);
        await expect(page.locator(".jp-CodeCell").first()).toBeVisible();
        await expect(page.getByText("| Idle")).toBeVisible({ timeout: 60_000 }); // the kernel is there
      });
      expect(heard).toEqual([]);
    } finally {
      await stop();
      rmSync(notebooks, { recursive: true, force: true });
    }
  },
});

/** Runs a cell, and waits for its number. */
async function run(page: Page, index: number): Promise<void> {
  const cell = page.locator(".jp-CodeCell").nth(index);
  await cell.locator(".cm-content").click();
  await page.keyboard.press("Control+Enter");
  await expect(cell.locator(".jp-InputPrompt")).toHaveText(/\[\d+\]/);
}

const output = (page: Page, index: number) =>
  page.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea-output");

test("a notebook and its page share settings and answers", async ({ page, open }) => {
  await open("index.ipynb");
  await run(page, 0);
  const widget = page.locator("dpscope-epsilon");
  const result = widget.locator(".result[aria-busy=false]");
  await expect(result).toContainText("4.0631");
  expect(page.workers().length).toBeGreaterThan(0);
  await run(page, 1);
  await expect(output(page, 1)).toHaveText(`kernel has 1.0 ${LOWER}`);

  await widget.getByLabel("Noise multiplier").fill("2");
  await expect(result).not.toContainText("4.0631");
  await run(page, 2);
  await expect(output(page, 2)).toHaveText(/^kernel has 2\.0 \d/);

  await run(page, 3);
  await expect(widget.getByLabel("Noise multiplier")).toHaveValue("1");
  await expect(result).toContainText("4.0631");
  await run(page, 4);
  await expect(output(page, 4)).toHaveText(`kernel has 1.0 ${LOWER}`);
});

test("Explore in a notebook has the rows of the program, to the last bit", async ({
  page,
  open,
}) => {
  await open("explore.ipynb");
  await run(page, 0);
  const widget = page.locator("dpscope-explore");
  const noise = widget.getByLabel("Noise multiplier σ", { exact: true });
  const waits = widget.getByText(/computing|simulating|refining/);
  const claimed = widget.locator(".big.poisson");
  const isComplete = () => expect(waits).toHaveCount(0);
  await expect(claimed).toHaveText("0.19");
  await isComplete();
  await expect(widget.getByRole("img", { name: /ε against noise multiplier/ })).toBeVisible();
  await run(page, 1);
  await expect(output(page, 1)).toHaveText("7 True 2.0");

  await noise.fill("1.5");
  await noise.press("Enter");
  await expect(claimed).not.toHaveText("0.19");
  await isComplete();
  await run(page, 2);
  await expect(output(page, 2)).toHaveText("7 True 1.5");

  await run(page, 3);
  await expect(noise).toHaveValue("2");
  await expect(claimed).toHaveText("0.19");
  await isComplete();
  await run(page, 4);
  await expect(output(page, 4)).toHaveText("7 True 2.0");

  // a view that is replaced ends its workers
  const workers = () => page.workers().filter((worker) => worker.url().startsWith("blob:")).length;
  const before = workers();
  expect(before).toBeGreaterThan(0);
  await run(page, 0);
  await expect(widget).toHaveCount(1);
  await isComplete();
  await expect.poll(workers).toBe(before);

  const background = () => widget.evaluate((element) => getComputedStyle(element).backgroundColor);
  expect(await background()).toBe("rgb(255, 255, 255)");
  await page.evaluate(() => {
    document.body.dataset.jpThemeLight = "false";
  });
  await expect.poll(background).toBe("rgb(19, 21, 24)");
});
