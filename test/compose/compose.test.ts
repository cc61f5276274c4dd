import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { verifyWebhook } from '../../src/sdk/verify-webhook.ts';
import { launchBrowser, openTab } from '../browser/browser.ts';
import { until } from '../support/until.ts';
import { cloneProject, type Installation } from './installation.ts';
import { API, createMerchant } from './merchant.ts';
import { createShop, type Shop } from './shop.ts';
import { startTraffic } from './traffic.ts';

/** Docs: going-to-production.md, releasing.md, rolling-back.md */
const [PORTAL, CONSOLE] = ['https://portal.localhost', 'https://console.localhost:4004'];
const MINUTE_MS = 60_000;
const SETTLED_WITHIN_MS = 2 * MINUTE_MS;
const PER_SECOND = 5;
/** The archive's minute, and what it takes. */
const ARCHIVED_WITHIN_MS = 75_000;
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

let installation: Installation;
let key = '';
let shop: Shop;
let subscription = { subscriptionId: '', secret: '' };

beforeAll(async () => {
  installation = await cloneProject();
  await installation.compose('--profile', '*', 'down', '--volumes', '--timeout', '2');
}, 2 * MINUTE_MS);
afterAll(() => installation.remove(), 2 * MINUTE_MS);

let isBroken = false;

/** A test that goes on where the one before has ended: after a failure, none of the later ones could say anything. */
const step = (name: string, run: () => Promise<unknown>, timeoutMs: number): void =>
  test(
    name,
    async () => {
      if (isBroken) throw Object.assign(new Error(), { stack: 'not run: a step before it has failed' });
      isBroken = true;
      await run();
      isBroken = false;
    },
    timeoutMs,
  );

const release = (...tag: string[]) => installation.execute('deploy/release', tag);
const verifyLedger = () => installation.meskot(['ledger', 'verify']);

/** Purchases go on while the work is done; then nothing is lost: no request, no payment, no event, no santim. */
async function underTraffic(work: () => Promise<unknown>): Promise<void> {
  const traffic = startTraffic(installation, { key, perSecond: PER_SECOND });
  await work().finally(() => traffic.stop());
  const { purchases, lost, repeats } = await traffic.stop();
  console.info(`${purchases.length} purchases, ${repeats} requests repeated, ${lost.length} lost`);
  expect(lost).toEqual([]);
  await shop.allPaid(purchases);
  await until(
    'all events to be delivered',
    async () => {
      return (await shop.eventsThatAre('PENDING')) + (await shop.eventsThatAre('RETRYING')) === 0;
    },
    SETTLED_WITHIN_MS,
  );
  await expect(verifyLedger()).resolves.not.toContain('BROKEN');
}

const kill = async (service: string): Promise<void> => {
  const [container = ''] = await installation.containersOf(service);
  await installation.docker('kill', container);
  // An engine restarts what has died, but not what a command has killed.
  await installation.docker('start', container);
};

step(
  'the commands of the page start an installation',
  async () => {
    await installation.execute('deploy/init', []);
    await installation.set({ API_COUNT: '2', WORKER_COUNT: '2' });
    await release();
    await expect(installation.send('GET', `${API}/readyz`)).resolves.toMatchObject({ status: 200 });
  },
  15 * MINUTE_MS,
);

step(
  'the first admin, a merchant and its key come from commands in the container',
  async () => {
    ({ key } = await createMerchant(installation));
    shop = createShop(installation, key);
    expect(key).toMatch(/^sk_test_/);
  },
  MINUTE_MS,
);

step(
  'a payment through the proxy reaches the receiver as a webhook with a valid signature',
  async () => {
    subscription = await shop.ok('POST', '/api/checkout/webhooks/subscriptions', {
      sandboxReceiver: 'ok',
      eventTypes: ['*'],
    });
    const sessionId = await shop.buy({ orderNo: 'ORDER-1', phone: '0911000001' });
    await until('the payment to succeed', async () => (await shop.statusOf(sessionId)) === 'SUCCESS', MINUTE_MS);
    const path = `/api/checkout/webhooks/subscriptions/${subscription.subscriptionId}/requests`;
    type Received = { headers: Record<string, string>; body: string };
    const paid = await until('payment.succeeded', async () =>
      (await shop.ok<Received[]>('GET', path)).find(({ body }) => body.includes('payment.succeeded')),
    );
    expect(verifyWebhook(Buffer.from(paid.body), paid.headers, subscription.secret)).toMatchObject({
      event: 'payment.succeeded',
    });
  },
  2 * MINUTE_MS,
);

step(
  'portal and console open in a browser, and the mail catcher has a mail',
  async () => {
    const browser = await launchBrowser();
    try {
      for (const url of [PORTAL, CONSOLE]) {
        const tab = await openTab(browser, { origins: [new URL(url).origin], ignoreHTTPSErrors: true });
        await tab.page.goto(url);
        await tab.page
          .getByLabel(/e-mail/i)
          .first()
          .waitFor();
        expect(tab.problems).toEqual([]);
        await tab.close();
      }
    } finally {
      await browser.close();
    }
    const mails = (await (await fetch('http://127.0.0.1:1080/email')).json()) as { to: { address: string }[] }[];
    expect(mails.flatMap(({ to }) => to.map(({ address }) => address))).toContain('sara@example.et');
  },
  MINUTE_MS,
);

type Finding = { name: string; status: string; found: string };

async function doctor(): Promise<Finding[]> {
  const printed = await installation.meskot(['doctor', '--json']).catch((error: Error) => error.message);
  return JSON.parse(printed.slice(printed.indexOf('['), printed.lastIndexOf(']') + 1)) as Finding[];
}

step(
  'doctor finds nothing wrong',
  async () => {
    const findings = await doctor();
    expect(findings.filter(({ status }) => status === 'wrong')).toEqual([]);
  },
  MINUTE_MS,
);

step(
  'more processes start by a number in .env, and later commands keep it',
  async () => {
    await underTraffic(async () => {
      await installation.set({ API_COUNT: '3', WORKER_COUNT: '3' });
      await release();
      await installation.compose('up', '--detach');
      await installation.set({ API_COUNT: '2', WORKER_COUNT: '2' });
      await release();
    });
    const counts = await Promise.all(
      ['api', 'worker'].map(async (one) => (await installation.containersOf(one)).length),
    );
    expect(counts).toEqual([2, 2]);
  },
  10 * MINUTE_MS,
);

for (const service of ['api', 'worker', 'simulator', 'temporal', 'temporal-postgres', 'proxy']) {
  step(
    `kill -9 of ${service} loses nothing`,
    () =>
      underTraffic(async () => {
        await sleep(3_000);
        await kill(service);
        await sleep(10_000);
      }),
    5 * MINUTE_MS,
  );
}

step(
  'kill -9 of PostgreSQL loses no acknowledged payment',
  async () => {
    const traffic = startTraffic(installation, { key, perSecond: PER_SECOND });
    await sleep(3_000);
    await kill('postgres');
    await sleep(15_000);
    const { purchases } = await traffic.stop();
    await shop.allPaid(purchases.filter(({ lost, sessionId }) => lost === null && sessionId !== null));
    await expect(verifyLedger()).resolves.not.toContain('BROKEN');
  },
  5 * MINUTE_MS,
);

describe('a release with a migration and another course of a workflow', () => {
  /** The build that gets the workflows. */
  const current = async (): Promise<string | undefined> =>
    (await doctor()).find(({ name }) => name === 'Temporal build')?.found;

  beforeAll(async () => {
    await installation.write(
      'migrations/9999-next-release.sql',
      () => 'ALTER TABLE merchant ADD COLUMN next_release text;\n',
    );
    await installation.write('workflows/payment.ts', (text) =>
      text
        .replace(
          "  setCurrentDetails('querying the provider');\n",
          "$&  if (patched('next-release')) await sleep(1);\n",
        )
        .replace('  workflowInfo,\n', '  patched,\n  sleep,\n$&'),
    );
  });

  /** A payment that nobody confirms: its workflow waits until the session expires, after both releases. */
  let unconfirmed = '';
  const receiverAnswers = (sandboxReceiver: string) =>
    shop.ok('PATCH', `/api/checkout/webhooks/subscriptions/${subscription.subscriptionId}`, { sandboxReceiver });

  step(
    'loses no request, and the retries that wait are made by the new workers',
    async () => {
      unconfirmed = await shop.buy({ orderNo: 'UNCONFIRMED', phone: '0911000004', expiresInMinutes: 5 });
      await receiverAnswers('error');
      await shop.buy({ orderNo: 'RETRIED', phone: '0911000001' });
      await until('its events to wait for a retry', async () => (await shop.eventsThatAre('RETRYING')) > 0, MINUTE_MS);
      await receiverAnswers('ok');
      await underTraffic(() => release('next'));
      await expect(current()).resolves.toBe('next gets the workflows.');
    },
    15 * MINUTE_MS,
  );

  step(
    'is rolled back without losing a request, and a payment that has waited through both ends',
    async () => {
      await underTraffic(() => release(version));
      await until('the session to expire', async () => (await shop.statusOf(unconfirmed)) === 'EXPIRED', 5 * MINUTE_MS);
      await expect(current()).resolves.toBe(`${version} gets the workflows.`);
    },
    10 * MINUTE_MS,
  );

  step(
    'whose migration fails changes nothing',
    async () => {
      await installation.write('migrations/9999-that-fails.sql', () => 'SELECT 1 / 0;\n');
      await underTraffic(async () => expect(release('broken')).rejects.toThrow(/still runs/));
      await expect(current()).resolves.toBe(`${version} gets the workflows.`);
    },
    10 * MINUTE_MS,
  );
});

step(
  'after the loss of the database with its disk, the backup has what was done until a minute before',
  async () => {
    const traffic = startTraffic(installation, { key, perSecond: PER_SECOND });
    await sleep(10_000);
    const { purchases } = await traffic.stop();
    await shop.allPaid(purchases);
    await sleep(ARCHIVED_WITHIN_MS);
    await installation.compose('rm', '--stop', '--force', 'postgres');
    await installation.docker('volume', 'rm', `${installation.project}_postgres`);
    await installation.execute('deploy/restore', []);
    await expect(installation.send('GET', `${API}/readyz`)).rejects.toThrow();
    await installation.compose('start', 'proxy');
    await underTraffic(() => sleep(10_000));
    await shop.allPaid(purchases);
  },
  10 * MINUTE_MS,
);
