/** The closest word, if it differs in at most a third of its letters. */
export function closestMatch(typed: string, words: readonly string[]): string | undefined {
  const byDistance = words.map((word) => ({ word, distance: lettersApart(typed, word) }));
  const [nearest] = byDistance.toSorted((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= Math.ceil(nearest.word.length / 3) ? nearest.word : undefined;
}

/** The Levenshtein distance. */
function lettersApart(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split('').entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
