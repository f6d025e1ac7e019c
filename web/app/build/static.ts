/** Lit templates as text, for what is painted before any script runs. */

interface Template {
  strings: readonly string[];
  values: readonly unknown[];
}

const BINDING = /\s([@.?]?)([\w-]+)=$/;

/** The HTML of a template: listeners are left out, properties become attributes. */
export function toHtml(value: unknown): string {
  if (value === null || value === undefined || typeof value === "symbol" || value === "") return "";
  if (Array.isArray(value)) return value.map(toHtml).join("");
  if (isTemplate(value)) return ofTemplate(value);
  if (typeof value === "object" || typeof value === "function") {
    throw new Error("only templates, texts and numbers can be painted first");
  }
  return escaped(String(value));
}

function ofTemplate({ strings, values }: Template): string {
  let out = strings[0] ?? "";
  values.forEach((value, index) => {
    const binding = BINDING.exec(out);
    if (binding !== null && isInTag(out)) {
      out = out.slice(0, binding.index) + attribute(binding[1] ?? "", binding[2] ?? "", value);
    } else {
      out += toHtml(value);
    }
    out += strings[index + 1] ?? "";
  });
  return out;
}

function attribute(sign: string, name: string, value: unknown): string {
  if (sign === "@" || value === undefined || value === null || typeof value === "symbol") return "";
  if (sign === "?") return value === true ? ` ${name}` : "";
  if (sign === "." && name !== "value") return "";
  return ` ${name}="${escaped(String(value))}"`;
}

function isInTag(text: string): boolean {
  return text.lastIndexOf("<") > text.lastIndexOf(">");
}

function isTemplate(value: unknown): value is Template {
  return typeof value === "object" && value !== null && "strings" in value && "values" in value;
}

function escaped(text: string): string {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (sign) => signs[sign] ?? sign);
}
