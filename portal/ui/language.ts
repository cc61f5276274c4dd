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

// oxlint-disable-next-line typescript/no-explicit-any -- the parameters of a text are those of its English function
type Text = string | ((...values: any[]) => string);
/** Every text of another language: a missing one is a type error, as is one with other parameters. */
type Translated<English extends Record<string, Text>> = {
  [Key in keyof English]: English[Key] extends string ? string : English[Key];
};

/** The texts of a screen in the page's language. */
export function catalogue<English extends Record<string, Text>>(
  en: English,
  am: Translated<English>,
): Translated<English> {
  return language === 'am' ? am : (en as Translated<English>);
}

const rules = new Intl.PluralRules(language);

/** The form of a noun for a count. Amharic has "one" for 0 and 1. */
export function plural(count: number, forms: { one: string; other: string }): string {
  return rules.select(count) === 'one' ? forms.one : forms.other;
}
