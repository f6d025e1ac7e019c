import { expect, test } from "./page";

test.describe("one run", () => {
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
});
