import type { Page } from "@playwright/test";
import { expect, test } from "./page";

test("the first paint needs no script", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(baseURL ?? "");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("shuffled training");
  await expect(page.locator(".hero")).toContainText("0.72");
  await expect(page.locator(".hero")).toContainText("4.06");
  await expect(page.locator("#sweep path.curve")).toHaveCount(4);
  await context.close();
});

test("a link shows no figures of another training", async ({ page }) => {
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = () => {
      const figure = document.querySelector<HTMLElement>(".hero .big");
      if (figure?.checkVisibility({ visibilityProperty: true })) seen.push(figure.innerText);
      requestAnimationFrame(look);
    };
    look();
  });
  const seen = () =>
    page.evaluate(() => [...new Set((window as never as { seen: string[] }).seen)]);
  await page.goto("#v=1&noise_multiplier=0.5");
  await expect(page.locator(".hero .big").first()).toHaveText("6.48");
  expect((await seen()).filter((text) => !["–", "6.48"].includes(text))).toEqual([]);
  await page.goto("about:blank");
  await page.goto("");
  await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
  expect(await seen()).toEqual(["0.72"]);
  await page.evaluate(() => {
    (window as never as { seen: string[] }).seen.length = 0;
    location.hash = "#v=1&noise_multiplier=0.5";
  });
  await expect(page.locator(".hero .big").first()).toHaveText("6.48");
  expect((await seen()).filter((text) => !["0.72", "–", "6.48"].includes(text))).toEqual([]);
});

/** The page in a font with wide letters and tall lines, as system fonts of some readers have. */
async function useWideFont(page: Page): Promise<void> {
  const isLoaded = await page.evaluate(async () => {
    const descriptors = { sizeAdjust: "108%", ascentOverride: "107%", descentOverride: "30%" };
    const wide = new FontFace("Wide", 'local("DejaVu Sans")', descriptors);
    document.fonts.add(await wide.load());
    document.documentElement.style.fontFamily = "Wide";
    return document.fonts.check("13px Wide");
  });
  expect(isLoaded).toBe(true);
}

/** Pairs of labels of the ruler whose boxes overlap, by more than the empty part of a line. */
function overlapping(page: Page): Promise<string[]> {
  return page.locator("#ruler").evaluate((ruler) => {
    const labels = [...ruler.querySelectorAll("text")];
    const boxes = labels.map((label) => label.getBoundingClientRect());
    return boxes.flatMap((one, index) =>
      boxes
        .slice(index + 1)
        .map((other, after) => ({ other, name: labels[index + 1 + after]?.textContent }))
        .filter(
          ({ other }) =>
            Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0 &&
            Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1,
        )
        .map(({ name }) => `${labels[index]?.textContent} and ${name}`),
    );
  });
}

for (const font of ["own", "wide"]) {
  test(`labels of bounds do not overlap in the ${font} font`, async ({ page }) => {
    await page.goto("");
    if (font === "wide") await useWideFont(page);
    for (const [setting, text] of [
      ["steps=1", "between the bounds"],
      ["steps=1&claim=4.4", "your claim"],
      ["steps=2", "between the bounds"],
      ["noise_multiplier=0.4&steps=30", "between the bounds"],
    ] as const) {
      await page.goto(`#v=1&${setting}`);
      await expect(page.locator(".hero")).not.toHaveAttribute("aria-busy", "true");
      await expect(page.locator("#ruler")).toContainText(text);
      expect(await overlapping(page), setting).toEqual([]);
    }
  });
}

test("an overlap of labels is detected", async ({ page }) => {
  await page.goto("#v=1&steps=1");
  await expect(page.locator(".hero .sentence")).toContainText(
    "Under zero-out adjacency the claim holds;",
  );
  await page.locator("#ruler text[class^=fill]").evaluateAll((labels) => {
    for (const label of labels) label.setAttribute("y", "28");
  });
  expect(await overlapping(page)).toEqual(["between the bounds and claimed"]);
});

test("the script takes over the first paint without a change", async ({ page }) => {
  await page.goto("");
  await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
  await expect(page.locator(".hero .big")).toHaveText(["0.72", "4.06", "5.6×"]);
  await expect(page.locator(".numbers tbody tr")).toHaveCount(7);
});

test("a slider, a number and a preset give the same setting", async ({ page }) => {
  await page.goto("");
  const noise = page.getByLabel("Noise multiplier σ", { exact: true });
  await noise.fill("0.5");
  await noise.press("Enter");
  await expect(page).toHaveURL(/noise_multiplier=0\.5/);
  await expect(page.locator(".hero .big").first()).toHaveText("6.48");
  await expect(page.locator(".hero")).not.toHaveAttribute("aria-busy", "true");
  const slider = page.getByLabel("Noise multiplier, slider");
  await slider.focus();
  for (let press = 0; press < 8; press += 1) await slider.press("ArrowRight");
  await expect(noise).not.toHaveValue("0.5");
  await page.getByLabel("Preset").selectOption({ label: "SST-2" });
  await expect(noise).toHaveValue("0.79");
  await expect(page.getByLabel("Epochs E", { exact: true })).toHaveValue("10");
  await expect(page.locator(".hero .big").first()).toHaveText("2.97");
});

test("shown numbers keep their order", async ({ page }) => {
  await page.goto("#v=1&noise_multiplier=5");
  await expect(page.locator(".hero .sentence")).toContainText("1.03 times");
  const [claimed, least] = await page.locator(".hero .big").allTextContents();
  expect(Number(least)).toBeGreaterThan(Number(claimed));
  await expect(page.locator(".hero .sentence")).toContainText(`claims ε = ${claimed?.trim()};`);
  await expect(page.locator(".hero .sentence")).toContainText(`at least ${least?.trim()} `);
});

test("a claim has a verdict, in the link and in the command", async ({ page }) => {
  await page.goto("");
  const field = page.getByLabel("Your claim ε (optional)");
  const sentence = page.locator(".hero .own-claim");
  await expect(sentence).toHaveCount(0);
  for (const [claim, says] of [
    ["2", "Your claim ε = 2.00 is refuted: the worst-case pair leaks at least 4.06 (proven)."],
    ["4.2", "Your claim ε = 4.20 is neither refuted nor confirmed by these bounds."],
    [
      "5",
      "Your claim ε = 5.00 is neither refuted nor confirmed under add/remove adjacency; under zero-out adjacency it holds: no dataset leaks more than 4.38 (proven).",
    ],
  ] as const) {
    await field.fill(claim);
    await field.press("Enter");
    await expect(sentence).toHaveText(says);
    await expect(page).toHaveURL(new RegExp(`claim=${claim}`));
  }
  await page.reload();
  await expect(sentence).toContainText("under zero-out adjacency it holds");
  await expect(page.locator("#ruler")).toContainText("your claim");
  await field.fill("");
  await field.press("Enter");
  await expect(sentence).toHaveCount(0);
});

test("batches of fixed size have bounds of their own, a verdict and a command", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("#v=1&claim=2");
  await page.getByLabel("How batches are drawn").selectOption("fixed-size");
  const hero = page.locator(".hero");
  await expect(hero.locator(".sentence").first()).toContainText(
    "with batches of fixed size, drawn anew, the worst-case pair leaks at least",
  );
  await expect(hero.locator(".own-claim")).toContainText("Your claim ε = 2.00 is refuted");
  await expect(hero.locator(".big").first()).toHaveText("0.72");
  const rows = page.locator(".numbers tbody tr");
  await expect(rows).toHaveCount(3);
  await expect(rows.nth(1)).toContainText("lower bound, proven");
  await expect(rows.nth(2)).toContainText("upper bound, proven");
  await page.getByLabel("Adjacency", { exact: true }).selectOption("replace");
  await expect(page).toHaveURL(/sampler=fixed-size.*adjacency=replace/);
  await expect(hero).toHaveAttribute("aria-busy", "false");
  await expect(page.locator("#sweep path.curve")).toHaveCount(3);
  await page.locator(".panel", { hasText: "Theory says" }).getByText("Copy as …").click();
  await page.getByRole("menuitem", { name: "command", exact: true }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    "dpscope bound fixed-size --side lower --noise-multiplier 1 --steps 100 --adjacency replace --delta 1e-5",
  );
  await expect(page.getByRole("button", { name: "Start the audit" })).toBeVisible();
});

test("random allocation is compared with Poisson accounting at the same rate", async ({ page }) => {
  await page.goto("#v=1&sampler=random-allocation&uses_per_epoch=5&steps=50");
  const rows = page.locator(".numbers tbody tr");
  await expect(rows.nth(1)).toContainText("lower bound, proven");
  await expect(rows.nth(2)).toContainText("upper bound, proven");
  const uses = page.getByLabel("Batches with a record, per epoch k");
  await expect(page.locator("#uses_per_epoch-hint")).toContainText("k/T = 0.1");
  await uses.fill("60");
  await uses.press("Enter");
  await expect(page.locator("#uses_per_epoch-hint")).toContainText(
    "Batches with a record, per epoch is 60; it must be a whole number from 1 to the steps",
  );
  await uses.fill("2");
  await uses.press("Enter");
  await expect(page).toHaveURL(/uses_per_epoch=2/);
  await expect(rows.nth(2)).toContainText("upper bound, proven");
});

test("truncated batches are bounded with their sizes", async ({ page }) => {
  await page.goto("#v=1&sampler=truncated-poisson&max_batch_size=70");
  const rows = page.locator(".numbers tbody tr");
  await expect(rows.nth(1)).toContainText("lower bound, proven");
  await expect(rows.nth(2)).toContainText("upper bound, proven");
  const hint = page.locator("#max_batch_size-hint");
  await expect(hint).toContainText("64 of N = 6400 records");
  const most = page.getByLabel("Most records of a batch Bₘ");
  await most.fill("7000");
  await most.press("Enter");
  await expect(hint).toContainText(
    "Most records of a batch is 7000; it must be from 1 to the number of records",
  );
  await most.fill("80");
  await most.press("Enter");
  await expect(page).toHaveURL(/sampler=truncated-poisson/);
  await expect(rows.nth(2)).toContainText("upper bound, proven");
});

test("an arrow key moves a slider by one digit, and a comma is decimal", async ({ page }) => {
  await page.goto("");
  const noise = page.getByLabel("Noise multiplier σ", { exact: true });
  const slider = page.getByLabel("Noise multiplier, slider");
  await slider.focus();
  await slider.press("ArrowRight");
  await expect(noise).toHaveValue("1.1");
  await noise.fill("0,5");
  await noise.press("Enter");
  await expect(noise).toHaveValue("0.5");
  await expect(page.getByLabel("Delta δ", { exact: true })).toHaveAttribute("inputmode", "text");
});

test("steps follow from the dataset and batch size until they are entered", async ({ page }) => {
  await page.goto("");
  await page.getByText("Steps from dataset and batch size").click();
  const [dataset, batch] = [page.getByLabel("Dataset size N"), page.getByLabel("Batch size B")];
  const steps = page.getByLabel("Steps per epoch T", { exact: true });
  await dataset.fill("60,000");
  await dataset.press("Enter");
  await batch.fill("256");
  await batch.press("Enter");
  await expect(steps).toHaveValue("235");
  await expect(page).toHaveURL(/batch_size=256/);
  await page.reload();
  await expect(dataset).toHaveValue("60000");
  await expect(steps).toHaveValue("235");
  await steps.fill("100");
  await steps.press("Enter");
  await expect(dataset).toHaveValue("");
  await expect(page.locator(".hero .big").first()).toHaveText("0.72");
});

test("every arrow key moves a slider of small whole numbers", async ({ page }) => {
  await page.goto("#v=1&epochs=3");
  const slider = page.getByLabel("Epochs, slider");
  await slider.focus();
  await slider.press("ArrowRight");
  await expect(page.getByLabel("Epochs E", { exact: true })).toHaveValue("4");
  await slider.press("ArrowLeft");
  await expect(page.getByLabel("Epochs E", { exact: true })).toHaveValue("3");
});

test("an invalid value is reported at its field and changes nothing", async ({ page }) => {
  await page.goto("");
  const steps = page.getByLabel("Steps per epoch T", { exact: true });
  await steps.fill("-3");
  await steps.press("Enter");
  await expect(page.getByText("Enter a whole number from 1 to 1e5.")).toBeVisible();
  await expect(steps).toHaveAttribute("aria-invalid", "true");
  await expect(page).not.toHaveURL(/steps/);
});

test("a link reproduces the screen", async ({ page }) => {
  await page.goto("#v=1&noise_multiplier=0.79&steps=117&epochs=10&axis=epochs&seed=42");
  await expect(page.locator(".hero .big").first()).toHaveText("2.97");
  await expect(page.getByRole("button", { name: "epochs E" })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await page.getByRole("link", { name: "Check my training" }).click();
  await expect(page).toHaveURL(
    /view=check.*noise_multiplier=0\.79|noise_multiplier=0\.79.*view=check/,
  );
  await page.goBack();
  await expect(page.locator(".hero .big").first()).toHaveText("2.97");
  await page.reload();
  await expect(page.getByLabel("Random seed", { exact: true })).toHaveValue("42");
});

const HOSTILE = [
  "#v=1&sampler=<img src=x onerror=alert(1)>&steps=<script>alert(1)</script>",
  "#v=999&steps=5",
  "#v=1&v=1&steps=5",
  `#v=1&seed=${"9".repeat(400)}`,
  "#%%%%=%00&&&===",
  `#v=1&${"a=b&".repeat(3000)}`,
  "#v=1&__proto__=x&constructor=y&toString=z",
];

for (const [index, hash] of HOSTILE.entries()) {
  test(`a hostile link yields defaults and a message: ${index}`, async ({ page }) => {
    await page.goto(hash);
    await expect(page.getByRole("alert")).toBeVisible();
    await expect(page.locator(".hero .big").first()).toHaveText("0.72");
    await expect(page.locator("img, script:not([src])")).toHaveCount(0);
  });
}

test("results can be copied in every form", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("");
  const copied = async (name: string) => {
    await page.locator(".panel", { hasText: "Theory says" }).getByText("Copy as …").click();
    await page.getByRole("menuitem", { name, exact: true }).click();
    await expect(page.getByRole("status").last()).toHaveText(`Copied: ${name}.`);
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(await copied("number")).toBe("4.0631");
  const json = JSON.parse(await copied("JSON"));
  expect(json.rows[0]).toMatchObject({ what: "poisson", kind: "upper", scope: "mechanism" });
  expect(await copied("CSV of the numbers")).toContain("poisson,0.718");
  expect((await copied("CSV of the curves")).split("\n").length).toBeGreaterThan(30);
  const svg = await copied("SVG of the curves");
  expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  expect(svg).not.toContain("var(");
  const cited = await copied("BibTeX");
  expect(cited).toContain("@software{dpscope,");
  expect(cited).not.toMatch(/127\.0\.0\.1|localhost/);
  expect(await copied("command")).toBe(
    "dpscope bound shuffle --method max-slice --noise-multiplier 1 --steps 100 --delta 1e-5",
  );
  expect(await copied("command of every sampler")).toBe(
    "dpscope compare --noise-multiplier 1 --steps 100 --delta 1e-5 --seed 1",
  );
});

test("a copied link does not name an address of this machine", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("#v=1&steps=50");
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.getByRole("status").last()).toContainText("opens on this machine only");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("#v=2&steps=50");
});

test("a number describes itself", async ({ page }) => {
  await page.goto("");
  await page.locator(".hero").getByRole("button", { name: "lower bound, proven" }).click();
  const about = page.locator("#about-least");
  await expect(about).toBeVisible();
  for (const words of [
    "pair",
    "largest output of each epoch",
    "dpscope 0.1.0",
    "already included",
  ]) {
    await expect(about).toContainText(words);
  }
  await page.keyboard.press("Escape");
  await expect(about).toBeHidden();
});

test("the exact pair follows, and balls-in-bins blocks nothing", async ({ page }) => {
  await page.goto("#v=1&noise_multiplier=0.9&steps=150&seed=3");
  await expect(page.locator(".numbers tbody tr").nth(3).locator(".right")).toContainText("≥");
  await expect(page.locator(".numbers tbody tr").nth(4)).toContainText("lower bound, 95 %");
  await expect(page.locator(".numbers")).not.toContainText("refining");
});

test("many epochs: first an estimate, refined with more draws, and the bound last", async ({
  page,
}) => {
  await page.goto("#v=1&epochs=2&steps=50");
  const rows = page.locator(".numbers tbody tr");
  const [limit, estimate] = [rows.nth(4), rows.nth(5)];
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = () => {
      const text = document.querySelector(".numbers .drawn")?.textContent?.trim() ?? "";
      if (text !== "" && seen.at(-1) !== text) seen.push(text.replaceAll(/\s+/g, " "));
    };
    new MutationObserver(look).observe(document.body, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
  await expect(limit).toContainText("lower bound", { timeout: 60_000 });
  await expect(estimate).toContainText(/draws, ±/);
  await expect(estimate).not.toContainText("refining");
  const seen = await page.evaluate(() => (window as never as { seen: string[] }).seen);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.slice(0, -1).every((text) => text.includes("refining"))).toBe(true);
});

test("balls-in-bins is added to the chart when its points are computed", async ({ page }) => {
  await page.goto("#v=1&steps=20&axis=delta");
  const chart = page.locator("#sweep");
  await expect(chart.locator("path.curve.attack")).toHaveCount(1);
  await expect(chart.locator("path.curve.plain")).toHaveCount(1);
  await expect(page.locator(".below-chart .waits")).toHaveCount(0);
  await page.locator(".below-chart summary").click();
  const last = page.locator(".below-chart tbody tr td:last-child");
  // the rows come after the summary was opened
  await expect.poll(() => last.count()).toBeGreaterThan(30);
  await expect(last.filter({ hasText: "–" })).toHaveCount(0);
});

test("the significance of simulated bounds can be chosen, and is in the link", async ({ page }) => {
  await page.goto("");
  await page.getByText("Attacker, confidence, seed").click();
  const significance = page.getByLabel("Significance", { exact: true });
  await significance.fill("0.01");
  await significance.press("Enter");
  await expect(page).toHaveURL(/significance=0\.01/);
  await expect(page.locator(".numbers tbody tr").nth(4)).toContainText("lower bound, 99 %");
  await significance.fill("0.6");
  await significance.press("Enter");
  await expect(page.getByText("Enter a number from 1e-6 to 0.5.")).toBeVisible();
});

test("a threat model that the sampler does not allow is replaced with a message", async ({
  page,
}) => {
  await page.goto("#v=1&sampler=poisson&threat_model=worst-case");
  await expect(page.getByRole("alert")).toContainText("target-canary is used");
});

test.describe("without the offline cache", () => {
  test.use({ serviceWorkers: "block" }); // else the cache may have the module first

  test("without its WebAssembly the page says what to do", async ({ page, heard }) => {
    await page.route(/\.wasm$/, (route) => route.abort());
    await page.goto("#v=1&steps=50");
    await expect(page.locator(".numbers")).toContainText("Reload the page");
    await expect(page.locator(".numbers")).toContainText("dpscope serve");
    await expect(page.locator(".numbers")).not.toContainText("computing");
    heard.length = 0;
  });
});

test("opened as a file the page says how to open it", async ({ page, heard }) => {
  await page.goto(new URL("../dist/index.html", import.meta.url).href);
  await expect(page.locator("#from-file")).toContainText("dpscope serve");
  await expect(page.locator("#from-file")).toBeVisible();
  await expect(page.locator(".hero")).toContainText("4.06");
  heard.length = 0;
});

test("works offline once it has been loaded", async ({ page, context }) => {
  await page.goto("");
  await page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    if (active?.state === "activated") return;
    await new Promise((done) => active?.addEventListener("statechange", done));
  });
  await context.setOffline(true);
  await page.reload();
  const noise = page.getByLabel("Noise multiplier σ", { exact: true });
  await noise.fill("0.5");
  await noise.press("Enter");
  await expect(page.locator(".hero .big").first()).toHaveText("6.48");
  await page.getByRole("link", { name: "What a bound means" }).first().click();
  await expect(page.locator("math").first()).toBeVisible();
});
