import { expect, expectAccessible, test } from "./page";

test.describe("federated", () => {
  test("sliders change the run, and the link and the command have them", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_canaries=200");
    const published = page.locator(".rule-bars .published strong");
    await expect(published).toHaveText(/ε ≈ \d/);
    const command = page.locator(".command code").first();
    await expect(command).toContainText(
      "--noise-multiplier 1 --dimension 1e6 --design poisson:200",
    );
    const presentations = page.getByLabel("Presentations", { exact: true });
    await presentations.fill("4");
    await presentations.press("Enter");
    await expect(command).toContainText("--noise-multiplier 0.5 ");
    await expect.poll(() => new URL(page.url()).hash).toContain("fed_presentations=4");
    const noise = page.getByLabel("Noise multiplier, slider");
    await noise.focus();
    await noise.press("ArrowRight");
    await expect.poll(() => new URL(page.url()).hash).toContain("fed_noise=1.1");
    await expect(command).toContainText("--noise-multiplier 0.55 ");
    await expect(page.locator("#sum-cosines desc")).toContainText(/Histogram of \d+ cosines/);
  });

  test("runs are counted until stopped, and counts continue", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_canaries=100&fed_noise=2");
    const runs = page.locator(".runs");
    await expect(runs).toContainText("No runs simulated yet.");
    const simulate = page.getByRole("button", { name: "Simulate 1,000 runs" });
    await expect(simulate).toBeEnabled();
    await simulate.focus();
    await simulate.press("Enter");
    await expect(runs).toHaveText(/^\s*1,000 runs\.\s*$/);
    const shares = page.locator(".rules .published td");
    await expect(shares.nth(1)).toHaveText(/[67]\d(\.\d)? % \([67]\d\d\)/);
    await expect(page.locator(".rules .any_mechanism td").nth(1)).toHaveText(/^[0-7](\.\d)? %/);
    await simulate.click();
    await expect(runs).toHaveText(/^\s*2,000 runs\.\s*$/);
    await expectAccessible(page);
  });

  test("another setting forgets the counts", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_canaries=100");
    await page.getByRole("button", { name: "Simulate 1,000 runs" }).click();
    await expect(page.locator(".runs")).toContainText("1,000 runs.");
    await page.getByLabel("Noise multiplier σ").fill("3");
    await page.getByLabel("Noise multiplier σ").press("Enter");
    await expect(page.locator(".runs")).toContainText("No runs simulated yet.");
  });

  test("settings that cannot be simulated are refused, and links have limits", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_canaries=10&fed_dimension=1000&fed_noise=0.02");
    await expect(page.locator(".failure")).toContainText("noise multiplier is 0.02");
    await expect(page.getByRole("button", { name: "Simulate 1,000 runs" })).toBeDisabled();
    await page.goto("#v=1&view=federated&fed_canaries=1e9");
    await expect(page.locator(".messages")).toContainText("fed_canaries");
    await expect(page.locator(".rule-bars li")).toHaveCount(4);
  });
});
