// @ts-nocheck: the types of a page, which this does not run in
// Caches the files of one build. The page is fetched from the network first, so that a new build is
// used; a file with a hash in its name is read from the cache first.

const CACHE = `dpscope-${"VERSION"}`;
const FILES = ["FILES"];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith("dpscope-") && name !== CACHE;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(request.mode === "navigate" ? pageOf(request) : fileOf(request));
});

async function pageOf(request) {
  try {
    return await fetch(request);
  } catch (error) {
    // Other pages, such as those of the documentation, are not cached.
    const isApp = ["./", "./index.html"].some(
      (page) => new URL(page, self.location.href).pathname === new URL(request.url).pathname,
    );
    const cached = isApp ? await caches.match("./", { ignoreSearch: true }) : undefined;
    if (cached === undefined) throw error;
    return cached;
  }
}

async function fileOf(request) {
  return (await caches.match(request)) ?? fetch(request);
}
