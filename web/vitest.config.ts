import { defineConfig } from "vitest/config";

/** Time in ms that nothing takes on a machine that has other work. */
const LONGEST = 60_000;

export default defineConfig({
  test: {
    include: [
      "{app,calculators}/{src,build}/**/*.test.ts",
      "{fields,numbers,protocol,tests}/**/*.test.ts",
    ],
    testTimeout: LONGEST,
    hookTimeout: LONGEST,
    teardownTimeout: LONGEST,
    reporters: ["default", "./tests/counts.ts"],
  },
});
