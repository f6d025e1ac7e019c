// The colours that the reader chose, here or in the app; the button changes them.
const KEY = "dpscope-theme";
const NAMES = { auto: "Auto", light: "Light", dark: "Dark" };
const root = document.documentElement;

function remembered() {
  try {
    return localStorage.getItem(KEY) ?? "auto";
  } catch {
    return "auto";
  }
}

/** @param {string} theme */
function show(theme) {
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  else delete root.dataset.theme;
}

function current() {
  return root.dataset.theme === "light" || root.dataset.theme === "dark"
    ? root.dataset.theme
    : "auto";
}

show(remembered());
addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  const name = document.getElementById("theme-name");
  if (button === null || name === null) return;
  const themes = Object.keys(NAMES);
  const label = () => {
    name.textContent = NAMES[current()];
  };
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(current()) + 1) % themes.length] ?? "auto";
    show(next);
    label();
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // without storage the colours last for this page
    }
  });
  label();
  button.hidden = false;
});
