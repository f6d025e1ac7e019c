import { fileURLToPath } from "node:url";
import { expect, expectAccessible, scores, test } from "./page";

test.describe("one run", () => {
  const file = (name: string) => fileURLToPath(new URL(`files/${name}`, import.meta.url));
  const bothFiles = ["one_run_scores.csv", "one_run_coins.csv"].map(file);

  test("sliders change the run, and the link has them", async ({ page }) => {
    await page.goto("#v=1&view=one-run&run_mu=0");
    const values = page.locator(".values dd:first-of-type");
    await expect(values.nth(3)).toHaveText("ε = 0.00");
    const strength = page.getByLabel("Strength of the attack μ");
    await strength.fill("3");
    await strength.press("Enter");
    await expect(values.nth(3)).toContainText(/ε = 1\d\.\d\d/);
    await expect(values.nth(0)).toContainText(/ε ≥ [1-9]/);
    await expect.poll(() => new URL(page.url()).hash).toContain("run_mu=3");
    const canaries = page.getByLabel("Canaries, slider");
    await canaries.focus();
    await canaries.press("ArrowLeft");
    await expect.poll(() => new URL(page.url()).hash).toContain("run_canaries=999");
    await expect(page.locator("#run-ranking")).toHaveAttribute("aria-label", /of 999 canaries/);
  });

  test("coins are redrawn until stopped, and at once where motion is reduced", async ({ page }) => {
    await page.goto("#v=1&view=one-run");
    await page.getByRole("button", { name: "Start" }).click();
    await expect(page.locator(".runs")).toContainText(/^\s*[1-9]\d* runs/);
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(page.getByRole("button", { name: "Start" })).toBeVisible();
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.goto("#v=1&view=one-run&run_guesses=61");
    await expect(page.locator(".runs")).toContainText("No coins drawn yet.");
    await expect(page.getByRole("button", { name: "Start" })).toHaveCount(0);
    const redraw = page.getByRole("button", { name: "Redraw 100" });
    await redraw.focus();
    await redraw.press("Enter");
    await expect(page.locator(".runs")).toContainText("100 runs");
    await expect(page.locator(".rules td").first()).toContainText("%");
  });

  test("scores and coins are audited in the browser", async ({ page }) => {
    await page.goto("#v=1&view=one-run&run_claim=0.5");
    await page.getByLabel("Files of the run").setInputFiles(bothFiles.slice(0, 1));
    await expect(page.locator("#run-found-head")).toContainText("add the coins");
    await page.getByLabel("Files of the run").setInputFiles(bothFiles.slice(1));
    await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
    await expect(page.locator(".outcome .big")).toContainText("1.7750");
    await expect(page.locator(".verdict .note")).toContainText("suspicious");
    await expect(page.locator("pre.report")).toContainText("601 canaries");
    await expect(page.locator(".command code")).toContainText(
      "dpscope audit one-run --scores one_run_scores.csv --coins one_run_coins.csv --delta 1e-5 --claim 0.5",
    );
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download JSON" }).click();
    expect((await download).suggestedFilename()).toBe("one-run.json");
    await page.getByRole("combobox", { name: "Number of guesses" }).selectOption("fixed");
    await expect(page.locator("pre.report")).toContainText("of 60 correct");
    await expectAccessible(page);
  });

  test("null scores are audited in the browser, without coins", async ({ page }) => {
    await page.goto("#v=1&view=one-run&run_claim=0.5&run_number=poisson");
    const file = (name: string, content: string) => {
      return { name, mimeType: "text/csv", buffer: Buffer.from(content) };
    };
    await page
      .getByLabel("Files of the run")
      .setInputFiles([
        file("scores.csv", scores(100, 3)),
        file("null_scores.csv", scores(20_000, 0)),
      ]);
    await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
    await expect(page.locator("pre.report")).toContainText("fresh draws");
    await expect(page.locator(".command code")).toContainText(
      "--scores scores.csv --null-scores null_scores.csv --design poisson:100 --delta 1e-5",
    );
    await expect(page.getByLabel("Mean number of canaries")).toHaveValue("100");
    await expectAccessible(page);
    await page.getByRole("combobox", { name: "Number of canaries" }).selectOption("bernoulli");
    await expect(page.locator(".command code")).toContainText("--design bernoulli:200:0.5");
    await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
  });

  test("files that cannot be audited are refused by name", async ({ page }) => {
    await page.goto("#v=1&view=one-run");
    const input = page.getByLabel("Files of the run");
    const buffer = Buffer.from("<img src=x onerror=alert(1)>");
    const mimeType = "text/csv";
    await input.setInputFiles([
      { name: "scores.csv", mimeType, buffer },
      { name: "coins.csv", mimeType, buffer },
      { name: "readme.md", mimeType, buffer },
    ]);
    await expect(page.locator(".failure")).toContainText("coins.csv");
    await expect(page.locator(".file-list .refused")).toContainText("Not a file of this audit.");
    await expect(page.locator("main img")).toHaveCount(0);
    await page.getByRole("button", { name: "Remove scores.csv" }).click();
    await expect(page.locator("#run-found-head")).toContainText("add the scores");
  });
});
