type Entry<Value> = { known: Promise<Value | null>; untilMs: number };

/**
 * Loads values by id, each with at most one query in `ttlMs`, for concurrent callers as well. Failures and unknown ids (null)
 * are not cached.
 */
export function createCache<Value>(
  load: (id: string) => Promise<Value | null>,
  { ttlMs, entriesMax }: { ttlMs: number; entriesMax: number },
): (id: string, nowMs: number) => Promise<Value | null> {
  const cache = new Map<string, Entry<Value>>();
  return (id, nowMs) => {
    const cached = cache.get(id);
    if (cached && cached.untilMs > nowMs) return cached.known;
    const known = load(id);
    cache.delete(id);
    cache.set(id, { known, untilMs: nowMs + ttlMs });
    if (cache.size > entriesMax) cache.delete(cache.keys().next().value ?? '');
    const forget = (): void => {
      if (cache.get(id)?.known === known) cache.delete(id);
    };
    void known.then((found) => found ?? forget(), forget);
    return known;
  };
}
