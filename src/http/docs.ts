import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import Router from '@koa/router';
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';

import { ERROR_STATUS } from '../lib/errors.ts';
import { ERROR_MEANINGS } from './error-meanings.ts';
import { createOpenApiDocument } from './openapi.ts';
import type { Route } from './route.ts';

/** Everything from here, nothing from elsewhere; Swagger UI's stylesheet holds its icons as data URLs. */
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

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Meskot API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="docs"></div>
<noscript>The same as JSON: <a href="/openapi.json">/openapi.json</a></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

// validatorUrl: null keeps Swagger UI from asking a server of its own.
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null,
  docExpansion: 'list', presets: [SwaggerUIBundle.presets.apis] });
`;

const ASSETS = { 'swagger-ui.css': 'css', 'swagger-ui-bundle.js': 'js', 'favicon-32x32.png': 'png' };

/** `/openapi.json`, `/docs` (Swagger UI, served from here) and `/docs/errors`. */
export function createDocsRouter(routes: readonly Route[], version: string): Router {
  const router = new Router({ sensitive: true });
  let document: string | undefined;
  router.get('/openapi.json', (ctx) => {
    document ??= JSON.stringify(createOpenApiDocument(routes, version));
    ctx.type = 'application/json';
    ctx.body = document;
  });
  // Who opens the bare address is looking for them.
  router.get('/', (ctx) => ctx.redirect('/docs'));
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', DOCS_POLICY);
    ctx.type = 'html';
    ctx.body = PAGE;
  });
  router.get('/docs/start.js', (ctx) => {
    ctx.type = 'js';
    ctx.body = START;
  });
  router.get('/docs/errors', (ctx) => {
    ctx.type = 'html';
    ctx.body = ERRORS_PAGE;
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

const ERRORS_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Meskot API errors</title></head>
<body>
<h1>Errors</h1>
<dl>
${Object.entries(ERROR_STATUS)
  .map(([code, status]) => `<dt id="${code}"><b>${code}</b> (${status})</dt><dd>${meaning(code)}</dd>`)
  .join('\n')}
</dl>
</body>
</html>
`;

function meaning(code: string): string {
  return new Map<string, string>(Object.entries(ERROR_MEANINGS)).get(code) ?? '';
}
