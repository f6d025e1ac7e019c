import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "{app,calculators}/{src,build}/**/*.test.ts",
      "{fields,numbers,protocol,tests}/**/*.test.ts",
    ],
    testTimeout: 60_000, // of a machine that has other work
    reporters: ["default", "./tests/counts.ts"],
  },
});
