/** The languages of the pages, each by its own name. */
export const LANGUAGES = { en: 'English', am: 'አማርኛ' } as const;
export type Language = keyof typeof LANGUAGES;

const STORED_AS = 'meskot.language';

const isLanguage = (text: string | null): text is Language => text !== null && text in LANGUAGES;

/** The language of this page until it is loaded again. */
export const language: Language = readLanguage();
document.documentElement.lang = language;

function readLanguage(): Language {
  const stored = localStorage.getItem(STORED_AS);
  return isLanguage(stored) ? stored : 'en';
}

/** Stores the language and loads the page again in it: texts are chosen when their files are evaluated. */
export function changeLanguage(wanted: Language): void {
  localStorage.setItem(STORED_AS, wanted);
  if (wanted !== language) location.reload();
}

/** The person's own language, unless another one was chosen in this browser. */
export function adoptLanguage(own: string): void {
  if (localStorage.getItem(STORED_AS) === null && isLanguage(own)) changeLanguage(own);
}

/** A text in English and in Amharic. One without either is a type error. */
type Pair = readonly [en: string, am: string];
// oxlint-disable-next-line typescript/no-explicit-any -- a text may have parameters of any types
type Entry = Pair | ((...values: any[]) => Pair);
type Texts<Entries> = {
  readonly [Key in keyof Entries]: Entries[Key] extends (...values: infer Values) => Pair
    ? (...values: Values) => string
    : string;
};

/** The texts of a screen in the page's language. */
export function catalogue<Entries extends Record<string, Entry>>(entries: Entries): Texts<Entries> {
  const inLanguage = ([en, am]: Pair): string => (language === 'am' ? am : en);
  const texts = Object.entries(entries).map(([key, entry]) => [
    key,
    typeof entry === 'function' ? (...values: unknown[]) => inLanguage(entry(...values)) : inLanguage(entry),
  ]);
  return Object.fromEntries(texts) as Texts<Entries>;
}

const rules = new Intl.PluralRules(language);

/** The form of a noun for a count. Amharic has "one" for 0 and 1. */
export function plural(count: number, forms: { one: string; other: string }): string {
  return rules.select(count) === 'one' ? forms.one : forms.other;
}
