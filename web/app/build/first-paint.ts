import { fileURLToPath } from "node:url";
import { createServer, type Plugin } from "vite";
import { mathml } from "./mathml.ts";
import { toHtml } from "./static.ts";

const PLACE = '<div id="app"></div>';

/** Puts the default view, with its stored figures, into the page: the first paint needs no script. */
export function firstPaint(): Plugin {
  return {
    name: "dpscope-first-paint",
    apply: "build",
    transformIndexHtml: {
      order: "pre",
      async handler(page) {
        if (!page.includes(PLACE)) throw new Error(`index.html has no ${PLACE}`);
        return page.replace(
          PLACE,
          `<div id="app" data-painted>${withoutIndents(await painted())}</div>`,
        );
      },
    },
  };
}

/** A line break is as good as the indent behind it, except in preformatted text. */
function withoutIndents(html: string): string {
  const parts = html.split(/(<pre[\s\S]*?<\/pre>)/);
  return parts.map((part, i) => (i % 2 === 1 ? part : part.replace(/\n\s+/g, "\n"))).join("");
}

async function painted(): Promise<string> {
  const server = await createServer({
    root: fileURLToPath(new URL("..", import.meta.url)),
    configFile: false,
    logLevel: "error",
    appType: "custom",
    plugins: [mathml()],
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  try {
    const { firstView } = await server.ssrLoadModule("/src/first-view.ts");
    return toHtml(firstView());
  } finally {
    await server.close();
  }
}
