/** The button and the keys that open the search; what finds anything is loaded at its first use. */

const dialog = document.querySelector<HTMLDialogElement>("#search");
const button = document.querySelector<HTMLButtonElement>("#search-open");
const input = document.querySelector<HTMLInputElement>("#search-input");
const status = document.querySelector<HTMLElement>("#search-status");

let isStarted = false;

async function open(): Promise<void> {
  if (dialog === null || input === null || status === null) return;
  if (!dialog.open) dialog.showModal();
  input.select();
  if (isStarted) return;
  isStarted = true;
  status.textContent = "Loading…";
  try {
    const { start } = await import("./results");
    await start(dialog, input, status);
  } catch {
    isStarted = false;
    status.textContent = "The search cannot be loaded. Check the connection, and open it again.";
  }
}

/** Whether a key is typed into something. */
function isTyped(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (target === input && !dialog?.open) return false; // it keeps the focus until the next frame
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, select, textarea"))
  );
}

function isShortcut(event: KeyboardEvent): boolean {
  if (event.altKey || event.isComposing || event.defaultPrevented) return false;
  const hasCommand = event.ctrlKey || event.metaKey;
  if (event.key.toLowerCase() === "k") return hasCommand && !event.shiftKey;
  return event.key === "/" && !hasCommand && !isTyped(event);
}

document.addEventListener("keydown", (event) => {
  if (!isShortcut(event)) return;
  event.preventDefault();
  void open();
});
button?.addEventListener("click", open);
document.querySelector("#search-close")?.addEventListener("click", () => dialog?.close());
if (button !== null) button.hidden = false;

export {}; // a module
