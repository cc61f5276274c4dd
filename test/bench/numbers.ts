/** The value below which this share (0 … 1) of the values lies; NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Of several rounds, the one in the middle by this measure: one that the machine disturbed does not count. */
export function middle<T>(rounds: readonly T[], measure: (round: T) => number): T {
  const sorted = rounds.toSorted((a, b) => measure(a) - measure(b));
  const found = sorted[Math.floor(sorted.length / 2)];
  if (found === undefined) throw new Error('no rounds were run');
  return found;
}

/** Rounded to two decimals. */
export function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Milliseconds since 1970, with fractions. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
