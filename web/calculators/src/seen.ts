/** Calls `act` once, when the element is near the view. */
export function whenSeen(element: Element, act: () => void): { disconnect(): void } {
  const seen = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      act();
    },
    { rootMargin: "200px" },
  );
  seen.observe(element);
  return seen;
}
