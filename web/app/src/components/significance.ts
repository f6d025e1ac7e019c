import type { nothing, TemplateResult } from "lit/html.js";
import { confidence } from "../../../numbers/rounded";
import type { Explored } from "../app";
import { paired } from "./paired";

/** The significance of a bound, with its confidence. */
export function significance(app: Explored, bound = "a bound"): TemplateResult | typeof nothing {
  const level = confidence(app.state.significance);
  const hint = `Probability that ${bound} is wrong: here ${level} confidence.`;
  return paired(app, "significance", { hint });
}
