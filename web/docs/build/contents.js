/** The table of contents: pages at the root and folders, whose `index.md` comes first. */

/**
 * @typedef {{ title: string, url: string, pages: { title: string, url: string }[] }} Section
 * @typedef {{ url: string, data: { title: string, label?: string, order: number } }} Page
 */

const ORDER = (/** @type {Page} */ one, /** @type {Page} */ other) =>
  one.data.order - other.data.order || (one.url < other.url ? -1 : 1);

/**
 * @param {Page[]} all
 * @returns {Section[]}
 */
export function contentsOf(all) {
  const pages = all.filter(({ data }) => data.title !== undefined);
  for (const { url, data } of pages) {
    if (!Number.isFinite(data.order)) throw new Error(`${url}: its front matter has no order`);
  }
  const depth = (/** @type {Page} */ { url }) => url.split("/").length - 2;
  const plain = (/** @type {Page} */ { url, data }) => ({ url, title: data.label ?? data.title });
  const tops = pages.filter((page) => depth(page) < 2).sort(ORDER);
  const deeper = pages.filter((page) => depth(page) >= 2).sort(ORDER);
  const sections = tops.map((top) => ({
    ...plain(top),
    pages: top.url === "/" ? [] : deeper.filter(({ url }) => url.startsWith(top.url)).map(plain),
  }));
  const listed = sections.reduce((sum, section) => sum + 1 + section.pages.length, 0);
  if (listed !== pages.length) throw new Error("a folder of pages has no index.md");
  return sections;
}

/**
 * The pages before and after one, in the order of the contents.
 *
 * @param {Section[]} contents
 * @param {string} url
 */
export function neighbours(contents, url) {
  const list = contents.flatMap((section) => [section, ...section.pages]);
  const at = list.findIndex((page) => page.url === url);
  return { previous: list[at - 1], next: at < 0 ? undefined : list[at + 1] };
}

/**
 * The section of a page that is not its start.
 *
 * @param {Section[]} contents
 * @param {string} url
 */
export function sectionOf(contents, url) {
  return contents.find(({ pages }) => pages.some((page) => page.url === url));
}
