/** Serves the build as `dpscope serve` does: the app at the root, the pages with calculators below `/pages/`. */

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("..", import.meta.url));
const HEADERS = new URL("../../crates/cli/src/commands/serve/headers.txt", import.meta.url);

/** What `dpscope serve` sends with every file. */
const headers = readFileSync(HEADERS, "utf8")
  .trim()
  .split("\n")
  .map((line): [string, string] => [line.replace(/: .*/, ""), line.replace(/^.*?: /, "")]);

const TYPES: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Called for each file that is sent. */
type Sent = (name: string, bytes: Buffer) => void;

async function answer(url: string, response: ServerResponse, sent?: Sent): Promise<void> {
  const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  // Browsers request it by themselves.
  if (path === "/favicon.ico") return void response.writeHead(204).end();
  const isPage = path.startsWith("/pages/");
  const file = normalize(
    join(WEB, isPage ? "" : "dist", path.endsWith("/") ? `${path}index.html` : path),
  );
  try {
    if (!file.startsWith(WEB + (isPage ? "pages" : "dist") + sep)) throw new Error("outside");
    const bytes = await readFile(file);
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    // Pages of documentation tools have scripts of their own.
    const policy = Object.fromEntries(isPage ? [] : headers);
    response.writeHead(200, { ...policy, "Content-Type": type, "Cache-Control": "no-cache" });
    response.end(bytes);
    sent?.(basename(file), bytes);
  } catch {
    response.writeHead(404).end("not found");
  }
}

/** A server on a free port, with its address. */
export async function serve(sent?: Sent): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    void answer(request.url ?? "/", response, sent);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

/** Starts before the tests and ends after them. */
export default async function start(): Promise<() => void> {
  const { url, close } = await serve();
  process.env.DPSCOPE_URL = url;
  return close;
}
