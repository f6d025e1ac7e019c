/**
 * The page for an iframe: `embed.html?calculator=epsilon&steps=100&theme=dark`. It posts its
 * height to its parent and listens to nothing. The page loads the calculators before this.
 */

const CALCULATORS = [
  "epsilon",
  "noise",
  "counts",
  "one-run",
  "one-shot",
  "pate",
  "matrix",
  "plan",
  "shuffle-gap",
] as const;

/** The element that a query asks for; unknown attributes are ignored. */
export function elementFor(query: URLSearchParams, document: Document): HTMLElement {
  const requested = query.get("calculator") ?? "epsilon";
  const name = CALCULATORS.find((name) => name === requested);
  if (name === undefined) {
    const refusal = document.createElement("p");
    refusal.textContent = `There is no such calculator: calculator must be one of ${CALCULATORS.join(", ")}.`;
    return refusal;
  }
  const element = document.createElement(`dpscope-${name}`);
  const known =
    (element.constructor as { observedAttributes?: readonly string[] }).observedAttributes ?? [];
  for (const attribute of known) {
    const value = query.get(attribute);
    if (value !== null) element.setAttribute(attribute, value);
  }
  return element;
}

const query = new URLSearchParams(location.search);
const theme = query.get("theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
const element = elementFor(query, document);
document.querySelector("main")?.append(element);

if (window.parent !== window) {
  let posted = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(element.getBoundingClientRect().height);
    if (height === posted) return;
    posted = height;
    // a height is no secret: any parent may receive it
    window.parent.postMessage({ type: "dpscope:resize", height }, "*");
  }).observe(element);
}
