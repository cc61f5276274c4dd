export type Weighted<T> = { weight: number; value: T };

export type Random = ReturnType<typeof createRandom>;

/**
 * Pseudo-random numbers, the same for the same seed, so that the demo data is reproducible. The generator mulberry32:
 * 32 bits of state suffice for demo data.
 */
export function createRandom(seed: number) {
  let state = seed;
  /** 0 ≤ … < 1 */
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number from 0 to `limit` - 1. */
  const below = (limit: number): number => Math.floor(fraction() * limit);
  /** Weights need not sum to 1. */
  const pickWeighted = <T>(list: readonly Weighted<T>[]): T => {
    let rest = fraction() * list.reduce((sum, { weight }) => sum + weight, 0);
    const found = list.find(({ weight }) => (rest -= weight) < 0) ?? list.at(-1);
    if (!found) throw new Error('There is nothing to pick from.');
    return found.value;
  };
  return {
    fraction,
    below,
    pickWeighted,
    pick: <T>(list: readonly T[]): T => pickWeighted(list.map((value) => ({ weight: 1, value }))),
    chance: (probability: number): boolean => fraction() < probability,
  };
}
