import type { App } from "../app";
import type { View } from "../state/fields";
import { formatHash } from "../state/hash";

/** The address that reproduces the screen; only its fragment where the rest opens on this machine alone. */
export function linkOf(app: App): string {
  return sharedLink(app.store.hash, location.href);
}

export function sharedLink(hash: string, address: string): string {
  const link = new URL(hash, address);
  const isLocal =
    link.protocol === "file:" ||
    /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(link.hostname);
  return isLocal ? link.hash : link.href;
}

/** The same state in another view. */
export function linkTo(app: App, view: View): string {
  return formatHash({ ...app.state, view });
}
