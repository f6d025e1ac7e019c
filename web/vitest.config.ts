import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{app,calculators}/{src,build}/**/*.test.ts", "{numbers,tests}/**/*.test.ts"],
    reporters: ["default", "./tests/counts.ts"],
  },
});
