import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import Router from '@koa/router';
import { marked } from 'marked';
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';

import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts';
import { unknownPath } from './dispatch.ts';
import { ERROR_MEANINGS } from './error-docs.ts';
import { createOpenApiDocument, type About, type RecordedResponses } from './openapi.ts';
import type { Route } from './route.ts';

/** Same origin only; Swagger UI's stylesheet holds its icons as data URLs. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = (guides: readonly Guide[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Meskot API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/guide.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<nav>
${guides.map(({ path, title }) => `<a href="${path}">${title}</a>`).join('\n')}
<a href="/docs/errors">Errors</a>
<a href="/openapi.json">openapi.json</a>
</nav>
<div id="docs"></div>
<noscript>The same as JSON: <a href="/openapi.json">/openapi.json</a></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

// validatorUrl: null keeps Swagger UI from calling its public validator.
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null,
  docExpansion: 'list', presets: [SwaggerUIBundle.presets.apis] });
`;

const ASSETS = { 'swagger-ui.css': 'css', 'swagger-ui-bundle.js': 'js', 'favicon-32x32.png': 'png' };

/** The sources of the docs beside the routes; `docsFolder` has the guides in Markdown. */
export type DocsParts = Omit<About, 'responses'> & { docsFolder: string };

/** `/openapi.json`, `/docs` (Swagger UI, served from here), `/docs/errors`, and the guides as pages and as Markdown. */
export function createDocsRouter(routes: readonly Route[], parts: DocsParts): Router {
  let read: Guide[] | undefined;
  const guides = (): Guide[] => (read ??= readGuides(join(parts.docsFolder, 'guides')));
  const router = new Router({ sensitive: true });
  let document: { plain: string; zipped: Buffer } | undefined;
  router.get('/openapi.json', (ctx) => {
    document ??= withZipped(describe(routes, parts));
    ctx.type = 'application/json';
    ctx.vary('Accept-Encoding');
    const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (isZipped) ctx.set('Content-Encoding', 'gzip');
    ctx.body = isZipped ? document.zipped : document.plain;
  });
  router.get('/', (ctx) => ctx.redirect('/docs'));
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', DOCS_POLICY);
    ctx.type = 'html';
    ctx.body = page(guides());
  });
  router.get('/docs/start.js', (ctx) => {
    ctx.type = 'js';
    ctx.body = START;
  });
  router.get('/docs/errors', (ctx) => {
    ctx.type = 'html';
    ctx.body = ERRORS_PAGE;
  });
  router.get('/docs/guide.css', (ctx) => {
    ctx.type = 'css';
    ctx.body = GUIDE_STYLE;
  });
  router.get('/docs/guides/:name', (ctx) => {
    const isMarkdown = ctx.path.endsWith('.md');
    const guide = guides().find(({ path }) => path === ctx.path.replace(/\.md$/, ''));
    if (!guide) throw unknownPath(ctx);
    ctx.set('Content-Security-Policy', DOCS_POLICY);
    ctx.type = isMarkdown ? 'text/markdown; charset=utf-8' : 'html';
    ctx.body = isMarkdown ? guide.markdown : guidePage(guide);
  });
  for (const [file, type] of Object.entries(ASSETS)) {
    let bytes: Promise<Buffer> | undefined;
    router.get(`/docs/${file}`, async (ctx) => {
      bytes ??= readFile(join(swaggerUiFolder(), file));
      ctx.type = type;
      ctx.set('Cache-Control', 'public, max-age=86400');
      ctx.body = await bytes;
    });
  }
  return router;
}

function describe(routes: readonly Route[], parts: DocsParts): string {
  return JSON.stringify(
    createOpenApiDocument(routes, { ...parts, responses: readRecordedResponses(parts.docsFolder) }),
  );
}

const withZipped = (plain: string) => ({ plain, zipped: gzipSync(plain) });

type Guide = { path: string; title: string; markdown: string };

/** The guides in the order of their file names; the first heading of each is its title. */
function readGuides(folder: string): Guide[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.md'));
  return files.toSorted().map((file) => {
    const markdown = readFileSync(join(folder, file), 'utf8');
    const title = /^# (.+)$/m.exec(markdown)?.[1] ?? file;
    return { path: `/docs/guides/${file.slice(0, -3)}`, title, markdown };
  });
}

function readRecordedResponses(folder: string): RecordedResponses {
  return JSON.parse(readFileSync(join(folder, 'answers.json'), 'utf8')) as RecordedResponses;
}

const guidePage = ({ title, markdown }: Guide): string => `<!doctype html>
<html lang="en" class="guide">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} – Meskot</title>
<link rel="stylesheet" href="/docs/guide.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<nav><a href="/docs">All calls of the API</a></nav>
<main>
${marked.parse(markdown, { async: false })}
</main>
</body>
</html>
`;

/** Also used by the page of Swagger UI, where it styles the line of links only. */
const GUIDE_STYLE = `.guide { color-scheme: light dark; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; }
nav { padding: 0.75rem 1.25rem; display: flex; flex-wrap: wrap; gap: 1.25rem; border-bottom: 1px solid #8884; }
main { max-width: 50rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
main pre { overflow-x: auto; padding: 0.75rem 1rem; border: 1px solid #8884; border-radius: 4px; font-size: 14px; }
main table { display: block; overflow-x: auto; border-collapse: collapse; }
main th, main td { padding: 0.35rem 0.6rem; border: 1px solid #8884; text-align: left; vertical-align: top; }
`;

const ERRORS_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Meskot API errors</title></head>
<body>
<h1>Errors</h1>
<dl>
${Object.entries(ERROR_MEANINGS)
  .map(
    ([code, meaning]) => `<dt id="${code}"><b>${code}</b> (${ERROR_STATUS[code as ErrorCode]})</dt><dd>${meaning}</dd>`,
  )
  .join('\n')}
</dl>
</body>
</html>
`;
