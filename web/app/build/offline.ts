import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const WORKER = new URL("./offline-worker.js", import.meta.url);

/** Writes `offline.js`, a service worker that caches every file of the build, so that the app works
 * without a network once it was loaded. */
export function offline(): Plugin {
  return {
    name: "dpscope-offline",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const files = Object.keys(bundle).filter((name) => !name.endsWith(".map"));
        const hash = createHash("sha256");
        for (const name of files.sort()) {
          const file = bundle[name];
          hash.update(name).update(file?.type === "asset" ? file.source : (file?.code ?? ""));
        }
        const source = readFileSync(fileURLToPath(WORKER), "utf8")
          .replace('"VERSION"', JSON.stringify(hash.digest("hex").slice(0, 16)))
          .replace(
            '["FILES"]',
            JSON.stringify([
              "./",
              "icon.svg",
              "before-paint.js",
              ...files.filter((name) => name !== "index.html"),
            ]),
          );
        this.emitFile({ type: "asset", fileName: "offline.js", source });
      },
    },
  };
}
