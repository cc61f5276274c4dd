/** Pseudo-random numbers, the same for the same seed, so that the demo data is reproducible. */
export type Random = {
  /** 0 ≤ … < 1 */
  fraction: () => number;
  /** A whole number from 0 to `limit` - 1. */
  below: (limit: number) => number;
  chance: (probability: number) => boolean;
  pick: <T>(list: readonly [T, ...T[]]) => T;
  /** Weights need not sum to 1. */
  pickWeighted: <T>(list: readonly Weighted<T>[]) => T;
};

export type Weighted<T> = { weight: number; value: T };

/** The generator mulberry32: 32 bits of state suffice for demo data. */
export function createRandom(seed: number): Random {
  let state = seed;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    chance: (probability) => fraction() < probability,
    pick: (list) => list[below(list.length)] ?? list[0],
    pickWeighted: (list) => {
      let rest = fraction() * list.reduce((sum, { weight }) => sum + weight, 0);
      const found = list.find(({ weight }) => (rest -= weight) < 0) ?? list.at(-1);
      if (!found) throw new Error('There is nothing to pick from.');
      return found.value;
    },
  };
}
