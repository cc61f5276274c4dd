/** The percentile of the values for this share (0 … 1); NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The longest time without an arrival, from the start on. */
export function longestGap(startMs: number, arrivals: Iterable<number>): number {
  let previous = startMs;
  let longest = 0;
  for (const at of [...arrivals].toSorted((a, b) => a - b)) {
    longest = Math.max(longest, at - previous);
    previous = at;
  }
  return longest;
}

/** Rounded to two decimals. */
export function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Milliseconds since 1970, with fractions. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
