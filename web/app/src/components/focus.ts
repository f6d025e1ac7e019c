/** Focus that would be lost with a button that is no longer drawn. */

/** Focuses an element once the next frame is drawn. */
export function focusSoon(id: string): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => document.getElementById(id)?.focus({ preventScroll: true })),
  );
}

/** Called while a view is rendered without the elements of `selector`: moves their focus to `id`. */
export function keepFocus(selector: string, id: string): void {
  if (document.activeElement?.matches(selector) === true) focusSoon(id);
}
