import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./page";
import native from "./pategan.json" with { type: "json" };

/** Few runs, so that an audit takes a second. */
const SMALL = "#v=1&view=synthetic&syn_runs=60&syn_iterations=20";

function file(name: string, content: string) {
  return { name, mimeType: "text/csv", buffer: Buffer.from(content) };
}

/** Waits until the report is that of the settings. */
async function audited(page: Page): Promise<void> {
  await expect(page.locator(".instrument")).toHaveAttribute("aria-busy", "false");
  await expect(page.locator(".instrument .stale")).toHaveCount(0);
}

const lamp = (page: Page, detector: string) =>
  page.locator(".lamp").filter({ has: page.locator(`strong:text-is("${detector}")`) });

test.describe("synthetic data", () => {
  test("the stored audit is painted without a bundle, with its command", async ({ page }) => {
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goto("#v=1&view=synthetic");
    await expect(page.locator(".headline")).toContainText("no check reports a fault");
    await expect(page.locator(".outcome .big")).toHaveText(/ε ≥\s+0\.00/);
    await expect(page.locator(".lamp.fired")).toHaveCount(0);
    await expect(page.locator(".lamp.clear").first()).toContainText("silent");
    await expect(page.locator(".command code").first()).toHaveText(
      "dpscope audit pategan --seed 1",
    );
    await expect(page.locator("#synthetic-cells .cell")).toHaveCount(9);
    expect(requests.filter((url) => url.includes("synth_bg"))).toEqual([]);
    await expectAccessible(page);
  });

  test("an implementation lights its detectors, and the link has its faults", async ({ page }) => {
    await page.goto(SMALL);
    await audited(page);
    await page.getByRole("button", { name: "turing" }).click();
    await expect(lamp(page, "M6")).toContainText("fires");
    await expect(lamp(page, "M1")).toContainText("not testable");
    for (const detector of ["M4", "M7"]) {
      await expect(lamp(page, detector)).toContainText("fires");
    }
    await expect(lamp(page, "M5")).toContainText("silent");
    await expect(page.locator(".findings.seen")).toContainText("Let teachers alone read real rows");
    await expect
      .poll(() => new URL(page.url()).hash)
      .toContain("syn_faults=O1%2CO2%2CO4%2CT4%2CT5");
    await expect(page.locator(".presets")).toContainText("printed ε = 4.68");
    await page.getByRole("switch", { name: /published audit/ }).check();
    await expect(lamp(page, "M5")).toContainText("fires");
    await audited(page);
    await expect(page.locator(".command code").first()).toContainText("--fault O1,O2,O4,T4,T5,E1");
    await expectAccessible(page);
    await page.getByRole("button", { name: "All off" }).click();
    await expect(page.locator(".lamp.fired")).toHaveCount(0);
  });

  test("one switch is one fault, wherever it was found", async ({ page }) => {
    await page.goto(SMALL);
    await audited(page);
    await page.getByRole("switch", { name: "U2", exact: true }).check();
    await expect(page.getByRole("switch", { name: "O3", exact: true })).toBeChecked();
    await expect(lamp(page, "M5")).toContainText("fires");
    const published = page.locator(".findings.seen");
    await expect(published).toContainText("the bounds of columns");
    await page.getByRole("switch", { name: "E6", exact: true }).check();
    await expect(page.getByLabel("ε at which training ends", { exact: true })).toBeVisible();
    await expect.poll(() => new URL(page.url()).hash).toContain("syn_stop=epsilon");
  });

  test("figures of a link are those that the program prints", async ({ page }) => {
    const row = native[1];
    if (row === undefined) throw new Error("no row");
    const { asked, report } = row;
    const link = new URLSearchParams({
      v: "1",
      view: "synthetic",
      syn_faults: asked.faults,
      syn_runs: String(asked.runs),
      syn_teachers: String(asked.teachers),
      syn_gamma: String(asked.gamma),
      syn_iterations: String(asked.iterations),
      significance: String(asked.significance),
      seed: asked.seed,
    });
    await page.goto(`#${link}`);
    await expect(page.locator(".headline")).toHaveText(`${report.headline}.`);
    await audited(page);
    await expect(page.locator(".command code").first()).toHaveText(
      `dpscope ${row.arguments.join(" ")}`,
    );
    const text = await page.locator(".instrument pre.report").textContent();
    expect(text).toContain(report.headline);
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (copied) => {
        document.body.dataset.copied = copied;
      };
    });
    await page.locator(".instrument").getByRole("button", { name: "Copy as" }).click();
    await page.getByRole("menuitem", { name: "JSON" }).click();
    const copied = await page.evaluate(() => document.body.dataset.copied ?? "");
    const { elapsed_ms: _, ...found } = JSON.parse(copied);
    expect(found).toEqual(report);
  });

  test("a long audit shows its progress, and can be cancelled", async ({ page }) => {
    await page.goto("#v=1&view=synthetic&syn_runs=5000");
    const status = page.locator(".instrument .status");
    await expect(status.getByRole("progressbar")).toBeVisible();
    await expect(status.locator(".pace")).toContainText(/ε ≈ \d/);
    await status.getByRole("button", { name: "Cancel" }).click();
    await expect(status).toContainText("Cancelled");
    await expect(page.locator(".instrument .stale")).toHaveCount(1);
    await expect(status.getByRole("button", { name: "Audit" })).toBeVisible();
    await page.getByRole("textbox", { name: "Runs of each world" }).fill("40");
    await page.getByRole("textbox", { name: "Runs of each world" }).press("Enter");
    await audited(page);
    await expect(status).toContainText("40 runs of each world");
  });

  test("settings that cannot be audited are refused with a remedy", async ({ page }) => {
    await page.goto("#v=1&view=synthetic&syn_faults=E8");
    await expect(page.locator(".instrument .failure")).toContainText(
      "let the training end at an ε",
    );
    await page.goto("#v=1&view=synthetic&syn_stop=epsilon&syn_gamma=5&syn_epsilon=0.1");
    await expect(page.locator(".instrument .failure")).toContainText("use a larger ε");
    await page.goto("#v=1&view=synthetic&syn_faults=X1");
    await expect(page.locator(".messages")).toContainText("syn_faults");
  });
});

const MANIFEST = `format = "dpscope.generator-folder/1"
game = "two-worlds"
epsilon = 0.2
delta = 0.0
significance = 0.05
rows = 2
runs = 120
bounds = "public"
seed = 5
target = ["90"]

[[columns]]
kind = "integer"
name = "age"
low = 0
high = 1000
`;

const runs = (first: number) =>
  Array.from({ length: 120 }, (_, run) =>
    file(`${String(run).padStart(4, "0")}.csv`, `age\n${first + run}\n${3 * run}\n`),
  );

test.describe("files of a generator", () => {
  test("runs of two worlds are audited in the browser", async ({ page }) => {
    await page.goto("#v=1&view=synthetic");
    await page.getByLabel("Runs with the target row", { exact: true }).setInputFiles(runs(600));
    await expect(page.locator("#syn-found-head")).toContainText("runs without it");
    await page.getByLabel("Runs without it", { exact: true }).setInputFiles(runs(1).slice(0, 119));
    await expect(page.locator("#syn-found-head")).toContainText("manifest.toml");
    await page
      .getByLabel("Manifest, for released rows")
      .setInputFiles([file("manifest.toml", MANIFEST)]);
    const own = page.locator("section:has(> #syn-found-head)");
    await expect(own.locator(".failure")).toContainText("without/0119.csv is missing");
    await page.getByLabel("Runs without it", { exact: true }).setInputFiles(runs(1));
    await expect(own.locator(".verdict strong")).toHaveText("REFUTED");
    await expect(own.locator(".under")).toContainText("120 runs of each world");
    await expect(own.locator(".command code")).toHaveText("dpscope audit generator folder");
    const download = page.waitForEvent("download");
    await own.getByRole("link", { name: "Download JSON" }).click();
    expect((await download).suggestedFilename()).toBe("generator.json");
    await expectAccessible(page);
    const broken = [...runs(1).slice(0, 119), file("0119.csv", "age\n<img src=x>\n1\n")];
    await page.getByLabel("Runs without it", { exact: true }).setInputFiles(broken);
    await expect(own.locator(".failure")).toContainText("without/0119.csv cannot be used: line 2");
    await expect(page.locator("main img")).toHaveCount(0);
  });

  test("two tables of features are audited with the claim of the page", async ({ page }) => {
    await page.goto("#v=1&view=synthetic&syn_claim=0.1&delta=1e-6");
    const table = (shift: number) =>
      ["a,b", ...Array.from({ length: 200 }, (_, run) => `${shift + (run % 7)},${run % 5}`)].join(
        "\n",
      );
    await page
      .getByLabel("Runs with the target row", { exact: true })
      .setInputFiles([file("one.csv", table(9))]);
    await page
      .getByLabel("Runs without it", { exact: true })
      .setInputFiles([file("other.csv", table(0))]);
    const own = page.locator("section:has(> #syn-found-head)");
    await expect(own.locator(".verdict strong")).toHaveText("REFUTED");
    await page.getByLabel("Your claim ε (optional)").fill("50");
    await page.getByLabel("Your claim ε (optional)").press("Enter");
    await expect(own.locator(".verdict strong")).toHaveText("inconclusive");
    await page.getByLabel("Runs without it", { exact: true }).setInputFiles([file("x.txt", "a")]);
    await expect(page.locator(".refused")).toContainText("ends in .csv");
  });

  test("canaries of one run are scored and audited", async ({ page }) => {
    await page.goto("#v=1&view=synthetic&syn_game=canaries&syn_claim=0.5");
    let state = 5;
    const draw = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const coins = Array.from({ length: 120 }, () => draw(2));
    const column = (rows: readonly number[]) => ["age", ...rows].join("\n");
    const canaries = coins.map((_, at) => 8 * at + draw(8));
    const input = page.getByLabel("Files of the run");
    await input.setInputFiles([
      file("columns.toml", MANIFEST.slice(MANIFEST.indexOf("[[columns]]"))),
      file("canaries.csv", column(canaries)),
    ]);
    await expect(page.locator("#syn-found-head")).toContainText("rows that the run released");
    const released = canaries.filter((_, at) => coins[at] === 1);
    await input.setInputFiles([
      file("0000.csv", column(released)),
      file("coins.csv", coins.join("\n")),
    ]);
    const own = page.locator("section:has(> #syn-found-head)");
    await expect(own.locator(".verdict strong")).toHaveText("REFUTED");
    await expect(own.locator("pre.report")).toContainText("120 canaries");
    await expectAccessible(page);
    await page.getByLabel("A canary’s score").selectOption("count");
    await expect(own.locator(".verdict strong")).toHaveText("not refuted");
    await input.setInputFiles([file("canaries.csv", "age\n5000\n")]);
    await expect(own.locator(".failure")).toContainText("canaries.csv cannot be used: line 2");
  });
});
