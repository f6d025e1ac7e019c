import stored from "../stored.json";
import type { Lines } from "./lines";

/** The default training's lines, computed when the app was built: what is painted first. */
export function linesOfStored(): Lines {
  return stored.lines as Lines;
}
