import type { TemplateResult } from "lit/html.js";
import type { Explored } from "../app";
import { count } from "../numbers/counts";
import { workersOf } from "../workers/cores";
import { plain } from "./paired";

/** The number of CPU workers on a device with so many cores. */
export function workers(app: Explored, cores: number): TemplateResult {
  const usual = workersOf({ workers: undefined }, cores);
  const hint = `${usual} of ${count(cores, "core")} if empty; with all of them the page may stutter.`;
  return plain(app, "workers", hint);
}
