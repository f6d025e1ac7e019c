import type { TemplateResult } from "lit/html.js";
import type { Explored } from "../app";
import { plain } from "./paired";

/** The number of CPU workers. */
export function workers(app: Explored): TemplateResult {
  return plain(
    app,
    "workers",
    "All cores but one if empty; with all of them the page may stutter.",
  );
}
