import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, testServerDeps } from '../support/http.ts';
import { itemRoutes } from './routes.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const serverDeps = () => testServerDeps(database.db, { routes: itemRoutes({ runs: 0 }) });

describe('docs', () => {
  test('the OpenAPI document has every route of the table and the parts of each', async () => {
    const http = await startTestServer(serverDeps());
    const { body: document } = await http.send('GET', '/openapi.json');
    expect(document.openapi).toBe('3.1.0');
    const listed = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    );
    expect(listed.toSorted()).toEqual([
      'get /api/broken',
      'get /api/failing',
      'get /api/items',
      'get /livez',
      'get /readyz',
      'post /api/items',
      'post /api/items/{sessionId}/echo',
    ]);
    const create = document.paths['/api/items'].post;
    expect(create.parameters[0]).toMatchObject({ in: 'header', name: 'Idempotency-Key' });
    expect(Object.keys(create.responses)).toEqual(expect.arrayContaining(['201', '400', '401', '409', '422', '503']));
    expect(create.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
    const listing = document.paths['/api/items'].get.responses['200'].content['application/json'].schema;
    expect(Object.keys(listing.properties)).toEqual(['statusCode', 'message', 'data', 'pagination', 'timestamp']);
    await http.close();
  });

  test('the root path redirects to /docs', async () => {
    const http = await startTestServer(serverDeps());
    const page = await http.send('GET', '/');
    expect([page.status, page.headers.get('location')]).toEqual([302, '/docs']);
    await http.close();
  });

  test('the docs page has no script, and a link to every operation on the page of its group', async () => {
    const http = await startTestServer(serverDeps());
    const page = await http.send('GET', '/docs');
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('<script');
    const links = [...page.text.matchAll(/<a href="([^"#]+)#[/](\w+)[/](\w+)">/g)].map(([, ...link]) => link);
    expect(links.length).toBe(7);
    for (const [path = '', tag, operationId] of links) {
      expect((await http.send('GET', path)).status).toBe(200);
      const { body: document } = await http.send('GET', `${path}.json`);
      const described = Object.values<object>(document.paths).flatMap((methods) => Object.values(methods));
      expect(described).toContainEqual(expect.objectContaining({ tags: [tag], operationId }));
      expect(described.length).toBeLessThan(links.length);
    }
    await http.close();
  });

  test('a page of operations loads its parts from this server only, and they are served', async () => {
    const http = await startTestServer(serverDeps());
    const page = await http.send('GET', '/docs/api/system');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
    const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(addresses.length).toBeGreaterThan(3);
    for (const address of addresses) {
      expect(address).toMatch(/^\//);
      expect((await http.send('GET', address)).status).toBe(200);
    }
    expect((await http.send('GET', '/docs/errors')).text).toContain('id="IDEMPOTENCY_KEY_REUSED"');
    await http.close();
  });

  test('the docs page begins with the guides, served as pages and as Markdown', async () => {
    const http = await startTestServer(serverDeps());
    const address = '/docs/guides/verifying-webhooks';
    const links = (await http.send('GET', '/docs')).text.matchAll(/<a href="([^"]+)">([^<]+)</g);
    expect([...links].slice(1, 3).map(([, ...link]) => link)).toEqual([
      ['/docs/guides/refunds', 'Refunding a payment'],
      [address, 'Receiving and verifying webhooks'],
    ]);
    const page = await http.send('GET', address);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
    expect(page.text).toContain('<h1>Receiving and verifying webhooks</h1>');
    expect(page.text).toContain('<td><code>X-Service-Signature-Previous</code></td>');
    expect(page.text).toContain('<code class="language-python">import base64');
    expect(page.text).not.toMatch(/<script|<style|style=|onclick/);
    const markdown = await http.send('GET', `${address}.md`);
    expect(markdown.headers.get('content-type')).toContain('text/markdown');
    expect(markdown.text).toMatch(/^# Receiving and verifying webhooks\n/);
    for (const missing of ['/docs/guides/none', '/docs/guides/..%2fadr%2f0001.md']) {
      expect((await http.send('GET', missing)).status).toBe(404);
    }
    await http.close();
  });

  test('the OpenAPI document is compressed for clients that accept gzip', async () => {
    const http = await startTestServer(serverDeps());
    const bytesOf = async (encoding: string) => {
      const response = await fetch(`${http.url}/openapi.json`, { headers: { 'accept-encoding': encoding } });
      const { paths } = (await response.json()) as { paths: object };
      return { encoding: response.headers.get('content-encoding'), vary: response.headers.get('vary'), paths };
    };
    const [zipped, plain] = [await bytesOf('gzip'), await bytesOf('identity')];
    expect([zipped.encoding, plain.encoding, zipped.vary]).toEqual(['gzip', null, 'Accept-Encoding']);
    expect(zipped.paths).toEqual(plain.paths);
    await http.close();
  });
});
