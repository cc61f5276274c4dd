import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

import Router, { type RouterContext } from '@koa/router';
import { marked } from 'marked';

import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts';
import { ISSUE_CODES } from '../lib/issues.ts';
import { createOpenApiDocument, openApiPath, readExamples, type DocsOptions, type Examples } from './openapi.ts';
import type { Route } from './route.ts';

/** Same origin only; Swagger UI's stylesheet holds its icons as data URLs. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The public address in guides and examples. */
const EXAMPLE_URL = 'https://pay.example.et';

const require = createRequire(import.meta.url);
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'));
const ASSETS = { 'swagger-ui.css': 'css', 'swagger-ui-bundle.js': 'js', 'favicon-32x32.png': 'png' };

// validatorUrl: null keeps Swagger UI from calling its public validator.
const START = `SwaggerUIBundle({ url: location.pathname.replace(/\\/$/, '') + '.json', dom_id: '#docs', deepLinking: true, validatorUrl: null,
  docExpansion: 'list', presets: [SwaggerUIBundle.presets.apis] });
`;

/** Also used by the page of Swagger UI, where it styles the line of links only. */
const GUIDE_STYLE = `html:has(main) { color-scheme: light dark; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; }
nav { padding: 0.75rem 1.25rem; display: flex; flex-wrap: wrap; gap: 1.25rem; border-bottom: 1px solid #8884; }
main { max-width: 50rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
main pre { overflow-x: auto; padding: 0.75rem 1rem; border: 1px solid #8884; border-radius: 4px; font-size: 14px; }
main table { display: block; overflow-x: auto; border-collapse: collapse; }
main th, main td { padding: 0.35rem 0.6rem; border: 1px solid #8884; text-align: left; vertical-align: top; }
`;

/** The sources of the docs beside the routes; `docsFolder` has the examples, and the guides in Markdown. */
export type DocsParts = Omit<DocsOptions, 'examples'> & { docsFolder: string };

/**
 * `/openapi.json`; `/docs`, the list of guides and operations; for each group of operations a page of Swagger UI, served from
 * here, which reads that part of the document only: the whole takes it seconds; `/docs/errors`; the guides as pages and as
 * Markdown.
 */
export function createDocsRouter(routes: readonly Route[], parts: DocsParts): Router {
  const { baseUrl } = parts;
  const guides = readGuides(join(parts.docsFolder, 'guides'), baseUrl);
  const examples = readExamples(parts.docsFolder);
  const router = new Router({ sensitive: true });
  const serveDocument = (path: string, described: readonly Route[]): void => {
    let document: { plain: string; zipped: Buffer } | undefined;
    router.get(path, (ctx) => {
      document ??= readDocument(described, { ...parts, examples });
      ctx.vary('Accept-Encoding');
      const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
      if (isZipped) ctx.set('Content-Encoding', 'gzip');
      send(ctx, 'application/json', isZipped ? document.zipped : document.plain);
    });
  };
  const rank = (name: string): number => (name === 'System' ? 1 : 0);
  const names = [...new Set(routes.map(groupOf))].toSorted((a, b) => rank(a) - rank(b));
  const groups = new Map(names.map((name) => [name, routes.filter((route) => groupOf(route) === name)]));
  serveDocument('/openapi.json', routes);
  for (const [name, described] of groups) serveDocument(`${referencePath(name)}.json`, described);
  const files: [path: string, type: string, content: string][] = [
    ['/docs', 'html', textPage('Documentation', contents(guides, groups))],
    ['/docs/start.js', 'js', START],
    ['/docs/guide.css', 'css', GUIDE_STYLE],
    ['/docs/errors', 'html', textPage('Errors', errorList(examples))],
    ...names.map((name) => [referencePath(name), 'html', referencePage(name)] as [string, string, string]),
  ];
  for (const { name, title, markdown } of guides) {
    files.push([`/docs/guides/${name}`, 'html', textPage(title, marked.parse(markdown, { async: false }))]);
    files.push([`/docs/guides/${name}.md`, 'text/markdown; charset=utf-8', markdown]);
  }
  for (const [path, type, content] of files) router.get(path, (ctx) => send(ctx, type, content));
  for (const [file, type] of Object.entries(ASSETS)) {
    router.get(`/docs/${file}`, async (ctx) => {
      ctx.set('Cache-Control', 'public, max-age=86400');
      send(ctx, type, await readFile(join(SWAGGER_UI, file)));
    });
  }
  return router;
}

/** The docs as the home of a server without pages. */
export function createHomeRouter(): Router {
  return new Router({ sensitive: true }).get('/', (ctx) => ctx.redirect('/docs'));
}

function send(ctx: RouterContext, type: string, body: string | Buffer): void {
  ctx.set('Content-Security-Policy', DOCS_POLICY);
  ctx.type = type;
  ctx.body = body;
}

function readDocument(routes: readonly Route[], options: DocsOptions): { plain: string; zipped: Buffer } {
  const plain = JSON.stringify(createOpenApiDocument(routes, options)).replaceAll(EXAMPLE_URL, options.baseUrl);
  return { plain, zipped: gzipSync(plain) };
}

type Guide = { name: string; title: string; markdown: string };

/** The guides in the order of their file names, with our address; the first heading of each is its title. */
function readGuides(folder: string, baseUrl: string): Guide[] {
  const names = readdirSync(folder).filter((file) => file.endsWith('.md'));
  return names.toSorted().map((file) => {
    const markdown = readFileSync(join(folder, file), 'utf8').replaceAll(EXAMPLE_URL, baseUrl);
    return { name: file.slice(0, -3), title: /^# (.+)$/m.exec(markdown)?.[1] ?? file, markdown };
  });
}

/** The page of an operation: its tag; operators', which are half of all, are divided by their paths. */
function groupOf({ tag, path }: Route): string {
  const [, resource] = /^\/api\/ops\/([\w-]+)/.exec(path) ?? [];
  return resource === undefined ? tag : `${tag}: ${resource}`;
}

const referencePath = (group: string): string => `/docs/api/${group.toLowerCase().replaceAll(/\W+/g, '-')}`;

function contents(guides: readonly Guide[], groups: ReadonlyMap<string, readonly Route[]>): string {
  const operation = (route: Route): string => {
    const { tag, operationId, method, path, summary } = route;
    const address = `${referencePath(groupOf(route))}#/${encodeURIComponent(tag)}/${operationId}`;
    return `<li><a href="${address}"><code>${method} ${openApiPath(path)}</code></a> ${summary}</li>`;
  };
  const reference = [...groups].map(
    ([name, described]) => `<h3><a href="${referencePath(name)}">${name}</a></h3>
<ul>
${described.map(operation).join('\n')}
</ul>`,
  );
  return `<h1>Meskot</h1>
<h2>Guides</h2>
<ul>
${guides.map(({ name, title }) => `<li><a href="/docs/guides/${name}">${title}</a></li>`).join('\n')}
</ul>
<h2>The API</h2>
<p>Each request below has its parameters, responses and examples, and can be tried.
<a href="/docs/errors">What each error code means</a>.
<a href="/openapi.json">The whole description as OpenAPI</a>.</p>
${reference.join('\n')}`;
}

function referencePage(group: string): string {
  return `${htmlHead(`${group} – Meskot API`)}
<link rel="stylesheet" href="/docs/swagger-ui.css">
${HOME_LINK}
<div id="docs"></div>
<noscript>The same as JSON: <a href="${referencePath(group)}.json">${referencePath(group)}.json</a></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
`;
}

const HOME_LINK = '<nav><a href="/docs">Documentation</a></nav>';

function textPage(title: string, main: string): string {
  return `${htmlHead(`${title} – Meskot`)}
${HOME_LINK}
<main>
${main}
</main>
`;
}

function htmlHead(title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="stylesheet" href="/docs/guide.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">`;
}

function errorList({ errors }: Examples): string {
  const items = Object.entries(errors).map(
    ([code, { meaning }]) =>
      `<dt id="${code}"><b>${code}</b> (${ERROR_STATUS[code as ErrorCode]})</dt><dd>${meaning}</dd>`,
  );
  const issues = Object.entries(ISSUE_CODES).map(
    ([code, meaning]) =>
      `<dt id="${code}"><b>${code}</b></dt><dd>${meaning.replaceAll(/`(\w+)`/g, '<code>$1</code>')}</dd>`,
  );
  return `<h1>Errors</h1>
<dl>
${items.join('\n')}
</dl>
<h1 id="fields">What is wrong with a field</h1>
<p>Each of the <code>details</code> of an error has a <code>code</code> beside its English text, and the parameters of that
code in <code>params</code>. Codes and parameters are stable; more codes may come.</p>
<dl>
${issues.join('\n')}
</dl>`;
}
