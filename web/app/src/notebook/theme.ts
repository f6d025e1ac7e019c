/** Whether a notebook is light: JupyterLab says so in an attribute; others show it by their background. */
function isLight(body: HTMLElement): boolean | undefined {
  const { jpThemeLight } = body.dataset;
  if (jpThemeLight !== undefined) return jpThemeLight === "true";
  const [red = 0, green = 0, blue = 0, opacity = 1] = (
    getComputedStyle(body).backgroundColor.match(/[\d.]+/g) ?? []
  ).map(Number);
  return opacity === 0 ? undefined : 0.3 * red + 0.6 * green + 0.1 * blue > 128;
}

/** Gives an element the colours of the notebook; returns what ends this. */
export function followTheme(element: HTMLElement): () => void {
  const { body } = document;
  const set = () => {
    const light = isLight(body);
    if (light === undefined) delete element.dataset.theme;
    else element.dataset.theme = light ? "light" : "dark";
  };
  set();
  const observer = new MutationObserver(set);
  observer.observe(body, { attributes: true });
  return () => observer.disconnect();
}
