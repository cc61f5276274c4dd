import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, type TestServer, testServerDeps } from '../support/http.ts';
import { productRoutes } from './document.ts';

const PUBLIC_BASE_URL = 'https://checkout.bank.example';
/** Of a receiver on the developer's own machine. */
const RECEIVERS = ['http://localhost:3000/', 'php -S 127.0.0.1:3000'];

let database: TestDatabase;
let http: TestServer;
beforeAll(async () => {
  database = await createTestDatabase();
  const routes = productRoutes().filter(({ tag }) => tag !== 'System');
  http = await startTestServer(testServerDeps(database.db, { routes, baseUrl: PUBLIC_BASE_URL }));
}, 60_000);
afterAll(async () => {
  await http.close();
  await database.drop();
});

/** Every text below /docs by its path, as links lead to it, and the description of the API. */
async function crawl(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const paths = ['/docs', '/openapi.json'];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    if (found.has(path)) continue;
    const { status, text } = await http.send('GET', path, { key: null });
    expect([path, status]).toEqual([path, 200]);
    found.set(path, text);
    for (const [, next = ''] of text.matchAll(/href="(\/docs[^"#]*)/g))
      if (!/[.](?:css|png)$/.test(next)) paths.push(next);
  }
  return found;
}

test('every page of the docs has the public address, and localhost for the own receiver of a developer only', async () => {
  const pages = await crawl();
  expect([...pages.keys()]).toEqual(
    expect.arrayContaining(['/docs/errors', '/docs/guides/refunds', '/docs/guides/verifying-webhooks']),
  );
  expect([...pages.keys()].filter((path) => path.startsWith('/docs/api/')).length).toBeGreaterThan(20);
  for (const [path, text] of pages) {
    const ours = RECEIVERS.reduce((rest, receiver) => rest.replaceAll(receiver, ''), text);
    expect([path, /.{0,60}(?:localhost|127\.0\.0\.1:|meskot\.test|pay\.example\.et).{0,30}/.exec(ours)?.[0]]).toEqual([
      path,
      undefined,
    ]);
  }
  expect(pages.get('/docs/guides/refunds')).toContain(`${PUBLIC_BASE_URL}/api/checkout/txns/txn_…/refunds`);
  expect(JSON.parse(pages.get('/openapi.json') ?? '')).toMatchObject({ servers: [{ url: PUBLIC_BASE_URL }] });
  const part = await http.send('GET', '/docs/api/refunds.json', { key: null });
  expect(part.body.servers).toEqual([{ url: PUBLIC_BASE_URL }]);
}, 60_000);

test('an error leads to its explanation at the public address', async () => {
  const { body } = await http.send('GET', '/api/nothing', { key: null });
  expect(body.error.docUrl).toMatch(`${PUBLIC_BASE_URL}/docs/errors#`);
});
