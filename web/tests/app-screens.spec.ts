import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { cosines, expect, isBuilt, scores, test } from "./page";

/** Pictures are compared only with the fonts that made them. */
const MADE_WITH = fileURLToPath(new URL("screenshots/made-with.json", import.meta.url));
const STEADY = fileURLToPath(new URL("screenshots/steady.css", import.meta.url));

/** Widths of texts in the fonts of this machine. */
async function fingerprint(page: Page): Promise<string> {
  const widths = await page.evaluate(() => {
    const pen = document.createElement("canvas").getContext("2d");
    return ["system-ui", "ui-monospace", "sans-serif"].map((family) => {
      if (pen !== null) pen.font = `40px ${family}`;
      return pen?.measureText("Poisson ε ≤ 0.7181, δ = 1e-5 Wij").width ?? 0;
    });
  });
  return widths.map((width) => width.toFixed(2)).join(" ");
}

async function hasSameFonts(page: Page): Promise<boolean> {
  const here = await fingerprint(page);
  const isNew = test.info().config.updateSnapshots === "all";
  if (isNew) writeFileSync(MADE_WITH, `${JSON.stringify(here)}\n`);
  return JSON.parse(readFileSync(MADE_WITH, "utf8")) === here;
}

interface Picture {
  /** A part of the page; the window, if none is named. */
  part?: string;
  height?: number;
  /** What the page may log. */
  mayLog?: string;
  at: readonly (readonly [width: number, scheme: "light" | "dark"])[];
  /** Opens the picture, and waits until it is still. */
  show(page: Page): Promise<void>;
}

const everywhere = [390, 768, 1440].flatMap((width) => [
  [width, "light"] as const,
  [width, "dark"] as const,
]);

const PICTURES: Record<string, Picture> = {
  explore: { at: everywhere, show: (page) => opened(page, "") },
  numbers: {
    part: ".explore > .column",
    at: [
      [390, "dark"],
      [768, "light"],
      [1440, "dark"],
    ],
    show: (page) => opened(page, ""),
  },
  audit: {
    part: ".panel.audit",
    at: [
      [390, "light"],
      [768, "dark"],
      [1440, "light"],
    ],
    async show(page) {
      await opened(page, "#v=1&observations=20000&device=cpu");
      await page.getByRole("button", { name: "Start the audit" }).click();
      await expect(page.locator(".outcome .under")).toContainText("confidence");
      await expect(page.locator(".charts .curve.attack")).toHaveCount(2);
    },
  },
  see: {
    height: 1400,
    at: [
      [390, "dark"],
      [768, "light"],
      [1440, "dark"],
    ],
    async show(page) {
      await opened(page, "#v=1&view=see");
      await page.getByRole("button", { name: "Add 2,000 epochs" }).click();
      await expect(page.locator(".errors")).toContainText("ε ≈");
      const step = page.getByRole("button", { name: "Step", exact: true });
      for (let times = 0; times < 5; times += 1) await step.click();
      await expect(page.locator(".now")).toContainText("Batch 4 outputs");
    },
  },
  "see-dropped": {
    height: 1400,
    at: [
      [390, "light"],
      [1440, "light"],
    ],
    async show(page) {
      await opened(page, "#v=1&view=see&see_sampler=truncated-poisson&see_max_batch=4");
      await expect(page.locator(".now")).toContainText("Epoch 1");
      await page.getByRole("button", { name: "Step", exact: true }).click();
      await expect(page.locator(".now")).toContainText("The batches are drawn");
    },
  },
  check: {
    at: [
      [390, "light"],
      [768, "dark"],
      [1440, "light"],
    ],
    async show(page) {
      await opened(page, "#v=1&view=check");
      await expect(page.locator("#check-head")).toContainText("REFUTED");
    },
  },
  scores: {
    at: [
      [390, "dark"],
      [768, "light"],
      [1440, "dark"],
    ],
    async show(page) {
      await opened(page, "#v=1&view=scores&scores_rule=simultaneous");
      const files = (["target.csv", "zero_out.csv"] as const).map((name, at) => {
        const buffer = Buffer.from(scores(1000, 3 - 3 * at));
        return { name, mimeType: "text/csv", buffer };
      });
      await page.getByLabel("Files of the audit").setInputFiles(files);
      await expect(page.locator(".outcome .sign")).toHaveText("ε ≥");
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  federated: {
    height: 4200,
    at: everywhere,
    async show(page) {
      await opened(page, "#v=1&view=federated&fed_parameters=1e5&fed_claim=0.5");
      await expect(page.locator("#sum-cosines")).toBeVisible();
      await page.getByRole("button", { name: "Simulate 1,000 runs" }).click();
      await expect(page.locator(".runs")).toContainText("1,000 runs.");
      const buffer = Buffer.from(cosines(200, 2, 1e5));
      const file = { name: "cosines.csv", mimeType: "text/csv", buffer };
      await page.getByLabel("Files of the audit").setInputFiles(file);
      await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  "one-run": {
    height: 2900,
    at: everywhere,
    async show(page) {
      await opened(page, "#v=1&view=one-run&run_claim=0.5");
      await expect(page.locator("#run-boundary")).toBeVisible();
      await page.getByRole("button", { name: "Redraw 100" }).click();
      await expect(page.locator(".runs")).toContainText("100 runs");
      const input = page.getByLabel("Files of the audit");
      for (const role of ["scores", "coins"]) {
        const name = `one_run_${role}.csv`;
        await input.setInputFiles(fileURLToPath(new URL(`files/${name}`, import.meta.url)));
        await page.getByLabel(`What ${name} contains`).selectOption(role);
      }
      await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
      await page.evaluate(() => {
        document.querySelector("pre.report")?.closest("details")?.removeAttribute("open");
        scrollTo(0, 0);
      });
    },
  },
  synthetic: {
    height: 4600,
    at: everywhere,
    async show(page) {
      await opened(
        page,
        "#v=1&view=synthetic&syn_faults=O3%2CU1%2CU3%2CU4%2CU5&syn_runs=200&syn_iterations=50&syn_claim=0.5",
      );
      await expect(page.locator(".instrument")).toHaveAttribute("aria-busy", "false");
      await expect(page.locator(".lamp.fired").first()).toBeVisible();
      await expect(page.locator(".instrument .stale")).toHaveCount(0);
      for (const [label, shift] of [
        ["Runs with the target row", 3],
        ["Runs without it", 0],
      ] as const) {
        const rows = Array.from({ length: 200 }, (_, run) => `${shift + (run % 17)},${run % 5}`);
        const buffer = Buffer.from(["a,b", ...rows].join("\n"));
        await page
          .getByLabel(label, { exact: true })
          .setInputFiles({ name: "features.csv", mimeType: "text/csv", buffer });
      }
      await expect(page.locator("#own-scores")).toBeVisible();
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  training: {
    height: 3000,
    at: everywhere,
    async show(page) {
      await opened(page, "#v=1&view=train&train_runs=60&train_noise=0.4&device=cpu");
      await expect(page.getByText(/2,000 records of 446 features/)).toBeVisible();
      await page.getByRole("button", { name: "Train", exact: true }).click();
      await expect(page.locator("#trained-scores")).toBeVisible();
      await expect(page.locator("pre.report")).toBeVisible();
      await expect(page.locator("#watched-loss")).toBeVisible();
      await page.evaluate(() => {
        document.querySelector("pre.report")?.closest("details")?.removeAttribute("open");
        scrollTo(0, 0);
      });
    },
  },
  matrix: {
    height: 1500,
    at: everywhere,
    async show(page) {
      await opened(page, "#v=1&view=matrix&matrix_steps=200");
      await expect(page.locator("#matrix-errors li")).toHaveCount(5);
      await expect(page.locator(".matrix .stale")).toHaveCount(0);
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  published: {
    height: 1700,
    at: [
      [390, "dark"],
      [1440, "light"],
    ],
    async show(page) {
      await opened(page, "#v=1&view=published");
      await expect(page.locator(".published tbody tr").first()).toBeVisible();
    },
  },
  meaning: {
    at: [
      [390, "dark"],
      [1440, "light"],
    ],
    async show(page) {
      await opened(page, "#v=1&view=meaning");
      await expect(page.locator("math").first()).toBeVisible();
    },
  },
  docs: {
    at: [
      [390, "dark"],
      [1440, "light"],
    ],
    async show(page) {
      await page.goto("./docs/concepts/bounds/");
      const calculator = page.locator("dpscope-counts");
      await calculator.scrollIntoViewIfNeeded();
      await expect(calculator.locator(".result[aria-busy=false]")).toBeVisible();
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  calculators: {
    part: "main",
    at: [
      [390, "dark"],
      [768, "light"],
    ],
    // The page's own policy refuses the style that stops animations.
    mayLog: "Applying inline style",
    async show(page) {
      test.skip(!isBuilt("html"), "the page with calculators is not built");
      await page.goto("./pages/html/index.html");
      for (const name of [
        "epsilon",
        "noise",
        "counts",
        "one-run",
        "one-shot",
        "pate",
        "matrix",
        "plan",
        "shuffle-gap",
      ]) {
        const calculator = page.locator(`dpscope-${name}`);
        await calculator.scrollIntoViewIfNeeded();
        await expect(calculator.locator(".result[aria-busy=false]")).toBeVisible();
      }
    },
  },
};

async function opened(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
}

for (const [name, picture] of Object.entries(PICTURES)) {
  for (const [width, colorScheme] of picture.at) {
    test(`${name} matches its picture: ${width} px, ${colorScheme}`, { tag: "@picture" }, async ({
      page,
      heard,
    }) => {
      await page.setViewportSize({ width, height: picture.height ?? 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.goto("");
      test.skip(!(await hasSameFonts(page)), "pictures were made with other fonts");
      await page.goto("about:blank");
      await picture.show(page);
      const file = `${name}-${width}-${colorScheme}.png`;
      const options = { stylePath: STEADY };
      if (picture.part === undefined) await expect(page).toHaveScreenshot(file, options);
      else await expect(page.locator(picture.part)).toHaveScreenshot(file, options);
      const { mayLog } = picture;
      const rest = heard.filter((line) => mayLog === undefined || !line.includes(mayLog));
      heard.splice(0, heard.length, ...rest);
    });
  }
}

test("nothing overlaps or leaves the page, at any width", async ({ page }) => {
  for (const width of [320, 390, 600, 768, 979, 980, 1440, 2200]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("");
    await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
    const found = () =>
      page.evaluate(() => {
        const boxes = [...document.querySelectorAll(".figure, .controls, .column > .panel")];
        const places = boxes.map((box) => box.getBoundingClientRect());
        const overlaps = places.some((one, index) =>
          places
            .slice(index + 1)
            .some(
              (other) =>
                one.left < other.right - 1 &&
                other.left < one.right - 1 &&
                one.top < other.bottom - 1 &&
                other.top < one.bottom - 1,
            ),
        );
        return { overlaps, wide: document.documentElement.scrollWidth };
      });
    await expect.poll(found).toEqual({ overlaps: false, wide: width });
  }
});
