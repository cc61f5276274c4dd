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
  plugins: [onlyOurLanguages, tailwind(), react(), compressed(mode), pages],
  appType: 'mpa',
  server: { port: 4011, strictPort: false, proxy: { '/api': LISTENERS[entryOf(mode)] } },
  build: {
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: Object.fromEntries(
        Object.keys(LISTENERS).map((entry) => [entry, join(import.meta.dirname, entry, 'index.html')]),
      ),
    },
  },
}));
