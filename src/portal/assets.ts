import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Context, Middleware } from 'koa';

/** The entries of Vite's manifest, by the source file. */
type Manifest = Record<
  string,
  { file: string; css?: string[]; assets?: string[]; imports?: string[]; dynamicImports?: string[] }
>;

type Asset = { name: string; plain: Buffer; br?: Buffer | undefined; gzip?: Buffer | undefined };

/** Not fonts, which a language may not need. */
const LOADED_FIRST = /[.](?:js|css)$/;
const YEAR_SECONDS = 31_536_000;
/**
 * The addresses of an entry's pages: all show the same document, whose script reads the rest of the address. `home`: where
 * `/` leads, unless it is a page itself.
 */
const ENTRIES = {
  merchant: { page: /^[/](?:test|live)(?:[/]|$)/, home: '/test/' },
  operator: { page: /^[/][^.]*$/, home: null },
};

/**
 * The built pages of one entry, `merchant` or `operator`: its own hashed files, which browsers keep, and its document at
 * every address of a page. Everything is held in memory. `first`: the addresses of what a page loads first, for browsers to
 * load while a person signs in. undefined where the build has no such entry; throws where the folder has no complete build.
 */
export async function createAssets(folder: string, entry: keyof typeof ENTRIES) {
  const manifest = JSON.parse(await readFile(join(folder, '.vite/manifest.json'), 'utf8')) as Manifest;
  const source = `${entry}/index.html`;
  const chunk = manifest[source];
  if (!chunk) return undefined;
  const { page, home } = ENTRIES[entry];
  const names = filesOf(manifest, [source], { isWhole: true });
  const read = await Promise.all(
    names.map(async (name) => [`/${name}`, await readAsset(folder, name)] as [string, Asset]),
  );
  const files: ReadonlyMap<string, Asset> = new Map(read);
  const document = await readAsset(folder, source);
  const serve: Middleware = async (ctx, next) => {
    const file = files.get(ctx.path);
    if (file) return send(ctx, file, `public, max-age=${YEAR_SECONDS}, immutable`);
    if (ctx.path === '/' && home !== null) return ctx.redirect(home);
    return page.test(ctx.path) ? send(ctx, document, 'no-cache') : next();
  };
  const first = filesOf(manifest, [source, ...(chunk.dynamicImports ?? [])], { isWhole: false });
  return { serve, first: first.filter((name) => LOADED_FIRST.test(name)).map((name) => `/${name}`) };
}

/**
 * The files that these chunks load at once, or, `isWhole`, ever. Of an entry there are no others: those of another entry stay
 * unreachable.
 */
function filesOf(manifest: Manifest, sources: readonly string[], { isWhole }: { isWhole: boolean }): string[] {
  const visited = new Set<string>();
  const names = new Set<string>();
  const visit = (key: string): void => {
    const chunk = manifest[key];
    if (!chunk || visited.has(key)) return;
    visited.add(key);
    for (const name of [chunk.file, ...(chunk.css ?? []), ...(chunk.assets ?? [])]) names.add(name);
    for (const next of [...(chunk.imports ?? []), ...((isWhole && chunk.dynamicImports) || [])]) visit(next);
  };
  for (const source of sources) visit(source);
  return [...names];
}

async function readAsset(folder: string, name: string): Promise<Asset> {
  const optional = (suffix: string) => readFile(join(folder, name + suffix)).catch(() => undefined);
  const [plain, br, gzip] = await Promise.all([readFile(join(folder, name)), optional('.br'), optional('.gz')]);
  return { name, plain, br, gzip };
}

function send(ctx: Context, { name, plain, br, gzip }: Asset, cacheControl: string): void {
  const variants = { br, gzip, identity: plain };
  // The smallest that the browser takes: browsers name gzip first.
  const encoding =
    (['br', 'gzip'] as const).find((one) => variants[one] && ctx.acceptsEncodings(one) === one) ?? 'identity';
  ctx.set('Cache-Control', cacheControl);
  ctx.vary('Accept-Encoding');
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  ctx.type = name.slice(name.lastIndexOf('.'));
  ctx.body = variants[encoding];
}
