/** A message of a provider, whose signature is one of its fields. */
export type SignedMessage = Readonly<Record<string, unknown>>;

/** The text that providers sign: fields sorted by name, `name=value` joined by `&`. */
export function joinSorted(fields: ReadonlyMap<string, unknown>): string {
  return [...fields]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('&');
}
