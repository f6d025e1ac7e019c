import type { App } from "./app";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const KEY = "dpscope-theme";

const NAMES: Record<Theme, string> = { auto: "Auto", light: "Light", dark: "Dark" };

function current(): Theme {
  const given = document.documentElement.dataset.theme;
  return THEMES.find((theme) => theme === given) ?? "auto";
}

export function themeName(): string {
  return NAMES[typeof document === "undefined" ? "auto" : current()];
}

export function nextTheme(app: App): void {
  const next = THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length] ?? "auto";
  show(next);
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // without storage the theme lasts for this visit
  }
  app.redraw();
}

/** The theme of the last visit. */
export function rememberedTheme(): void {
  try {
    const stored = localStorage.getItem(KEY);
    show(THEMES.find((theme) => theme === stored) ?? "auto");
  } catch {
    // as the system has it
  }
}

function show(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
