import { createServer } from 'node:http';

import { type Config, readConfig, workflowUrl } from '../../src/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { listen, stopListening } from '../../src/lib/ports.ts';
import { callbackUrl } from '../../src/providers/callbacks.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';

const REQUIRED = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };
const read = (settings: Record<string, string>): Config => readConfig({ ...REQUIRED, ...settings });
const SITES = ['PUBLIC_BASE_URL', 'PORTAL_URL', 'CONSOLE_URL'];
const SERVICES = ['TEMPORAL_UI_URL', 'SIMULATOR_URL', 'SIMULATOR_PUBLIC_URL'];
const PROVIDERS = ['TELEBIRR_BASE_URL', 'TELEBIRR_PAY_PAGE_URL', 'TELEBIRR_CALLBACK_BASE_URL', 'AWASH_BASE_URL'];

describe('settings with addresses', () => {
  test.each([...SITES, ...SERVICES, ...PROVIDERS])(
    'reject %s with a query, a fragment, a user or another protocol, and name what is allowed',
    (name) => {
      const wrong = [
        'http://localhost:1?a=1',
        'http://localhost:1/?',
        'http://localhost:1#a',
        'http://user:word@localhost:1',
        'http://user@localhost:1',
        'ftp://localhost:1',
        'javascript:alert(1)',
        'http:/localhost',
        'http:localhost',
        'localhost:4000',
        '//localhost',
        'http://local host',
        String.raw`http://localhost\api`,
        'http://',
      ];
      for (const url of wrong) {
        const because = new RegExp(`${name} must be a full address such as https://.*: http or https, a host.*without`);
        expect(() => read({ [name]: url })).toThrow(because);
      }
    },
  );

  test.each(SITES)('reject %s with a path, since pages and cookies are at the root of a host', (name) => {
    expect(() => read({ [name]: 'http://localhost:1/pay' })).toThrow(
      `${name} must be a full address such as https://pay.example.et: http or https, a host and a port, ` +
        'without path, query, fragment or user',
    );
    expect(read({ [name]: 'HTTP://Localhost:80/' })).toMatchObject({ [name]: 'http://localhost' });
  });

  test.each(SERVICES)('accept %s with a path, without the slash at its end', (name) => {
    expect(read({ [name]: 'http://localhost:1/some/path/' })).toMatchObject({ [name]: 'http://localhost:1/some/path' });
  });

  test('accept a user at the proxy of webhooks and at the mail server, and no path', () => {
    const { EGRESS_PROXY_URL, SMTP_URL } = read({
      EGRESS_PROXY_URL: 'http://meskot:p%40ss@proxy.example.et:3128/',
      SMTP_URL: 'smtps://meskot:p%40ss@smtp.example.et',
    });
    expect(EGRESS_PROXY_URL).toBe('http://meskot:p%40ss@proxy.example.et:3128');
    expect(SMTP_URL).toBe('smtps://meskot:p%40ss@smtp.example.et');
    for (const [name, protocol] of [
      ['EGRESS_PROXY_URL', 'http'],
      ['SMTP_URL', 'smtp'],
    ] as const) {
      for (const rest of ['host/path', 'host?a=1', 'host#a', 'user:50%@host']) {
        expect(() => read({ [name]: `${protocol}://${rest}` })).toThrow(`${name} must be a full address such as`);
      }
      expect(() => read({ [name]: 'ftp://host' })).toThrow(`: ${protocol} or ${protocol}s, a host`);
    }
  });

  test.each(['http://localhost:7233', 'localhost:7233/', 'user@localhost:7233', '::1:7233'])(
    'reject "%s" as the address of Temporal',
    (TEMPORAL_ADDRESS) => {
      expect(() => read({ TEMPORAL_ADDRESS })).toThrow('TEMPORAL_ADDRESS must be host and port');
    },
  );

  test.each(['localhost:7233', '[::1]:7233', '10.0.0.7:7233', 'temporal', 'ns.acc.tmprl.cloud:7233'])(
    'accept "%s" as the address of Temporal',
    (TEMPORAL_ADDRESS) => {
      expect(read({ TEMPORAL_ADDRESS })).toMatchObject({ TEMPORAL_ADDRESS });
    },
  );
});

describe('an address with a path', () => {
  test('is where links to the Temporal UI and callbacks of providers lead', () => {
    const config = read({ TEMPORAL_UI_URL: 'https://ops.example.et/temporal/' });
    expect(workflowUrl(config, 'payment-1')).toBe(
      'https://ops.example.et/temporal/namespaces/default/workflows/payment-1',
    );
    const { connection } = read({ TELEBIRR_CALLBACK_BASE_URL: 'http://localhost:1/vpn/' }).liveProviders.TELEBIRR;
    expect(callbackUrl(connection.callbackBaseUrl ?? '', { channel: 'TELEBIRR', secret: 's' })).toBe(
      'http://localhost:1/vpn/api/providers/TELEBIRR/callback/s',
    );
  });

  test("is where the sandbox's providers call", () => {
    const { simulator } = read({ SIMULATOR_CALLBACK_BASE_URL: 'http://api:4000/pay/' });
    const findProvider = createFindProvider({ http: createHttpClient(), clock: () => new Date(), ...simulator });
    for (const channel of ['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const) {
      expect(findProvider(channel, 'sandbox')?.callbackBaseUrl).toBe('http://api:4000/pay');
    }
  });

  test('is where the simulator and a live provider are called', async () => {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      response.end('{}');
    });
    const url = await listen(server, { host: '127.0.0.1', port: 0 });
    const http = createHttpClient();
    const { simulator, liveProviders } = read({
      SIMULATOR_URL: `${url}/simulator/`,
      AWASH_BASE_URL: `${url}/gateway/awash/`,
      AWASH_COMPANY_NAME: 'Meskot',
      AWASH_TILL_CODE: '1',
      AWASH_TOKEN: 't',
      AWASH_HASH_KEY: 'h',
    });
    const findProvider = createFindProvider({ http, clock: systemClock, ...simulator, liveProviders });
    for (const environment of ['sandbox', 'live'] as const) {
      await findProvider('AWASH', environment)?.query('pat_1');
    }
    await http.close();
    await stopListening(server);
    expect(paths).toEqual([
      expect.stringMatching(/^\/simulator\/awash\/[a-z]/),
      expect.stringMatching(/^\/gateway\/awash\/[a-z]/),
    ]);
  });
});
