import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The texts of React Aria in other languages than those of `ui/aria-texts.ts`. */
const FOREIGN_TEXTS = /[/]react-(?:aria|stately)[/]dist[/]private[/]intl[/].+[/](?!en-US)[a-z]{2}-[A-Z]{2}[.]mjs$/;

const onlyOurLanguages: Plugin = {
  name: 'only-our-languages',
  enforce: 'pre',
  load: (id) => (FOREIGN_TEXTS.test(id) ? 'export default undefined;' : null),
};

/** Files that are sent compressed. */
const COMPRESSIBLE = /[.](?:js|css|html|svg)$/;
/** Of brotli, for the pages of `npm start`: 9 % larger than at the best one, which is two fifths of the build's CPU time. */
const START_QUALITY = 5;
const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)];

/** Writes a `.br` and a `.gz` beside each text file, so that the server compresses nothing. */
const compressed = (mode: string): Plugin => ({
  name: 'compressed',
  apply: 'build',
  writeBundle: async ({ dir = '' }) => {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: mode === 'start' ? START_QUALITY : constants.BROTLI_MAX_QUALITY,
    };
    const names = await readdir(dir, { recursive: true });
    const compress = async (path: string): Promise<void> => {
      const content = await readFile(path);
      await Promise.all([
        toBrotli(content, { params }).then((bytes) => writeFile(`${path}.br`, bytes)),
        toGzip(content, { level: 9 }).then((bytes) => writeFile(`${path}.gz`, bytes)),
      ]);
    };
    await Promise.all(names.filter((name) => COMPRESSIBLE.test(name)).map((name) => compress(join(dir, name))));
  },
});

/** Of which people a development server shows the pages: `npm run dev:portal -- --mode operator`. */
const entryOf = (mode: string): 'merchant' | 'operator' => (mode === 'operator' ? 'operator' : 'merchant');

/** The document also names the files of `pages.tsx`, which its first script imports, so that all are requested at once. */
const preloadedPages: Plugin = {
  name: 'preloaded-pages',
  apply: 'build',
  transformIndexHtml: (_html, { chunk, bundle = {} }) => {
    const pages = chunk?.dynamicImports.map((name) => bundle[name]).find((one) => one?.name === 'pages');
    if (pages?.type !== 'chunk') return [];
    const first = new Set([chunk?.fileName, ...(chunk?.imports ?? [])]);
    const names = [...pages.imports, pages.fileName].filter((name) => !first.has(name));
    return names.map((name) => ({
      tag: 'link',
      attrs: { rel: 'modulepreload', crossorigin: true, href: `/${name}` },
      injectTo: 'head' as const,
    }));
  },
};

/** The entry whose code a file is; null: of none. */
const entryWith = (id: string): string | null => /[/]portal[/](merchant|operator)[/]/.exec(id)?.[1] ?? null;
/** What small windows, the calendar and QR codes need: large, and not for the first sight of a page. */
const LATER = /[/]node_modules[/](?:react-aria|react-stately|@internationalized|qrcode|dijkstrajs)|[/]ui[/]qr-code[.]/;
const isShared = (id: string): boolean => entryWith(id) === null && !LATER.test(id);
const isLibrary = (id: string): boolean => isShared(id) && id.includes('/node_modules/');

/**
 * Few files in place of many small ones, since each request costs a round trip: what the first scripts need at once, then
 * what several screens share. Nothing of one entry comes into a file that the other loads.
 */
const GROUPS = [
  { name: 'start', test: isShared, tags: ['$initial' as const], priority: 3 },
  { name: entryWith, tags: ['$initial' as const], priority: 2 },
  { name: 'libraries', test: isLibrary, minShareCount: 2, priority: 1 },
  { name: 'ui', test: isShared, minShareCount: 2 },
];

/** In development: every address of a page is that page, as src/portal/assets.ts has it. */
const pages: Plugin = {
  name: 'pages',
  configureServer: ({ middlewares, config: { mode } }) => {
    middlewares.use((request, _response, next) => {
      if (/^[/](?:test|live)(?:[/?]|$)/.test(request.url ?? '')) request.url = `/${entryOf(mode)}/index.html`;
      next();
    });
  },
};

/** Where `npm run dev:portal` sends what is not a page: the listener of these people of `npm start`. */
const LISTENERS = { merchant: 'http://localhost:4001', operator: 'http://localhost:4004' };

// oxlint-disable-next-line import/no-default-export -- Vite's
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  plugins: [onlyOurLanguages, tailwind(), react(), preloadedPages, compressed(mode), pages],
  appType: 'mpa',
  server: { port: 4011, strictPort: false, proxy: { '/api': LISTENERS[entryOf(mode)] } },
  build: {
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: { codeSplitting: { groups: GROUPS } },
      input: Object.fromEntries(
        Object.keys(LISTENERS).map((entry) => [entry, join(import.meta.dirname, entry, 'index.html')]),
      ),
    },
  },
}));
