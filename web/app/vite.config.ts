import { defineConfig } from "vite";
import { firstPaint } from "./build/first-paint.ts";
import { mathml } from "./build/mathml.ts";
import { offline } from "./build/offline.ts";

export default defineConfig({
  base: "./",
  plugins: [mathml(), firstPaint(), offline()],
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    license: { fileName: "third-party.md" },
    target: "es2022",
    // The page's policy allows no data: address, and wasm compiles while it streams.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
});
