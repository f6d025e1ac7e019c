/** A JupyterLab of its own: a server on a free port, with the Python of `cargo xtask web --hosts`. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OPTIONS = [
  "--no-browser",
  "--allow-root",
  "--ServerApp.ip=127.0.0.1",
  "--ServerApp.port_retries=0",
  "--IdentityProvider.token=",
  "--ServerApp.password=",
  // nothing is asked of other servers
  "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
  "--LabApp.news_url=None",
  "--LabApp.extension_manager=readonly",
];

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}api/status`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Resolves when the server answers; its settings and the notebook's are forgotten at the end. */
export async function startJupyterLab(
  folder: string,
  notebooks: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const python = readFileSync(join(folder, "python.txt"), "utf8").trim();
  const url = `http://127.0.0.1:${await freePort()}/`;
  const home = mkdtempSync(join(tmpdir(), "jupyterlab-"));
  const folders = ["CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"].map((name) => [
    `JUPYTER_${name}`,
    home,
  ]);
  const options = [
    ...OPTIONS,
    `--ServerApp.port=${new URL(url).port}`,
    `--notebook-dir=${notebooks}`,
  ];
  const server: ChildProcess = spawn(python, ["-m", "jupyterlab", ...options], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...process.env,
      ...Object.fromEntries(folders),
      JUPYTERLAB_SETTINGS_DIR: home,
      JUPYTERLAB_WORKSPACES_DIR: home,
      IPYTHONDIR: home,
      PYTHONPATH: join(folder, "packages"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  let said = "";
  server.stderr?.on("data", (text: Buffer) => {
    said = (said + text.toString()).slice(-4000);
  });
  const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  const stop = async () => {
    server.kill("SIGTERM");
    await ended;
    rmSync(home, { recursive: true, force: true });
  };
  const latest = Date.now() + 60_000;
  while (!(await isReady(url))) {
    if (server.exitCode !== null || Date.now() > latest) {
      await stop();
      throw new Error(`JupyterLab did not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { url, stop };
}
