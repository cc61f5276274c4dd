const LISTS = {
  and: new Intl.ListFormat('en-GB', { type: 'conjunction' }),
  or: new Intl.ListFormat('en-GB', { type: 'disjunction' }),
};

/** "a, b and c", or with "or". */
export const listWith = (word: keyof typeof LISTS, parts: readonly string[]): string => LISTS[word].format(parts);
