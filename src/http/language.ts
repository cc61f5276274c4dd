import type { Context } from 'koa';

/** The languages of pages and mails. */
export const LANGUAGES = ['en', 'am'] as const;
export type Language = (typeof LANGUAGES)[number];

const isLanguage = (value: unknown): value is Language => value === 'en' || value === 'am';

const COOKIE = 'meskot_language';
const COOKIE_SECONDS = 365 * 24 * 60 * 60;

/** The language that the visitor has chosen, now or earlier; else the given one; else the best that the browser accepts. */
export function languageOf(ctx: Context, otherwise: Language | null = null): Language {
  const chosen = [chosenNow(ctx), ctx.cookies.get(COOKIE)].find(isLanguage);
  return chosen ?? otherwise ?? (ctx.acceptsLanguages(...LANGUAGES) === 'am' ? 'am' : 'en');
}

/** Remembers the language of `?lang=` for the pages below a path. */
export function rememberLanguage(ctx: Context, { path, baseUrl }: { path: string; baseUrl: string }): void {
  const language = chosenNow(ctx);
  if (!isLanguage(language)) return;
  const flags = `Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${baseUrl.startsWith('https:') ? '; Secure' : ''}`;
  ctx.append('Set-Cookie', `${COOKIE}=${language}; Path=${path}; ${flags}`);
}

const chosenNow = (ctx: Context): string | undefined => [ctx.query['lang']].flat()[0];
