import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { verifyWebhook } from '../../src/sdk/verify-webhook.ts';
import { launchBrowser, openTab } from '../browser/browser.ts';
import { until } from '../support/until.ts';
import { cloneProject, type Installation } from './installation.ts';
import { API, createMerchant } from './merchant.ts';
import { createShop, type Shop } from './shop.ts';
import { step } from './step.ts';
import { startTraffic } from './traffic.ts';
import { PAID, PER_SECOND, underTraffic } from './under-traffic.ts';

/** Docs: going-to-production.md, releasing.md, rolling-back.md */
const [PORTAL, CONSOLE] = ['https://portal.localhost', 'https://console.localhost:4004'];
const MINUTE_MS = 60_000;
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

const release = (...tag: string[]) => installation.execute('deploy/release', tag);
/** Purchases go on meanwhile, and none is lost. */
const withPurchases = (work: () => Promise<unknown>) => underTraffic({ installation, shop }, work);
const verifyLedger = () => installation.meskot(['ledger', 'verify']);

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

step(
  'a release starts what a start that was interrupted has left stopped, and doctor finds nothing wrong',
  async () => {
    await installation.compose('stop', 'temporal', 'temporal-postgres', 'simulator');
    await release();
    const findings = await installation.doctor();
    expect(findings.filter(({ status }) => status === 'wrong')).toEqual([]);
  },
  5 * MINUTE_MS,
);

step(
  'more processes start by a number in .env, and later commands keep it',
  async () => {
    await withPurchases(async () => {
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
      withPurchases(async () => {
        await sleep(3_000);
        await installation.kill(service);
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
    await installation.kill('postgres');
    await sleep(15_000);
    const { purchases } = await traffic.stop();
    expect(purchases.length).toBeGreaterThan(PER_SECOND);
    await shop.allPaid(purchases.filter(({ lost, sessionId }) => lost === null && sessionId !== null));
    await expect(verifyLedger()).resolves.not.toContain('BROKEN');
  },
  5 * MINUTE_MS,
);

describe('a release with a migration and another course of a workflow', () => {
  /** The build that gets the workflows. */
  const current = async (): Promise<string | undefined> =>
    (await installation.doctor()).find(({ name }) => name === 'Temporal build')?.found;

  const next = `${version}-next`;
  /** The images of the processes that run. */
  const running = async (): Promise<string[]> => {
    const ids = [...(await installation.containersOf('api')), ...(await installation.containersOf('worker'))];
    return (await installation.docker('inspect', '--format', '{{.Image}}', ...ids)).trim().split('\n');
  };
  const imageOf = async (tag: string): Promise<string> =>
    (await installation.docker('image', 'inspect', '--format', '{{.Id}}', `meskot:${tag}`)).trim();
  const checkOut = (from: string, to: string) =>
    installation.write('package.json', (text) => text.replace(`"version": "${from}"`, `"version": "${to}"`));
  let before = '';

  beforeAll(async () => {
    before = await imageOf(version);
    await checkOut(version, next);
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
      await until(
        'its event to wait for a retry',
        async () => (await shop.eventsThatAre('RETRYING', PAID)) > 0,
        MINUTE_MS,
      );
      await receiverAnswers('ok');
      await withPurchases(() => release());
      await expect(current()).resolves.toBe(`${next} gets the workflows.`);
      expect(new Set(await running())).toEqual(new Set([await imageOf(next)]));
    },
    15 * MINUTE_MS,
  );

  step(
    'is rolled back without losing a request, and a payment that has waited through both ends',
    async () => {
      await withPurchases(() => release(version));
      await until('the session to expire', async () => (await shop.statusOf(unconfirmed)) === 'EXPIRED', 5 * MINUTE_MS);
      await expect(current()).resolves.toBe(`${version} gets the workflows.`);
      expect(new Set(await running())).toEqual(new Set([before]));
      await expect(imageOf(version)).resolves.toBe(before);
    },
    10 * MINUTE_MS,
  );

  step(
    'of a version that is neither here nor a tag of an image is refused',
    () => expect(release('9.9.9')).rejects.toThrow(/check the release 9\.9\.9 out/),
    MINUTE_MS,
  );

  step(
    'whose migration fails changes nothing',
    async () => {
      await installation.write('migrations/9999-that-fails.sql', () => 'SELECT 1 / 0;\n');
      await checkOut(next, `${version}-broken`);
      await withPurchases(async () => expect(release()).rejects.toThrow(/still runs/));
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
    const document = '/var/lib/meskot/documents/kept';
    await installation.compose('exec', '--no-TTY', 'api', 'touch', document);
    await sleep(ARCHIVED_WITHIN_MS);
    await installation.compose('exec', '--no-TTY', 'api', 'rm', document);
    const metrics = await installation.compose('exec', '--no-TTY', 'backup', 'cat', '/backups/backup.prom');
    expect(metrics).toMatch(/^meskot_backup_archive_failing 0\nmeskot_backup_last_success_timestamp_seconds \d+\n$/);
    await installation.compose('rm', '--stop', '--force', 'postgres');
    await installation.docker('volume', 'rm', `${installation.project}_postgres`);
    await installation.execute('deploy/restore', []);
    await expect(installation.send('GET', `${API}/readyz`)).rejects.toThrow();
    await installation.compose('exec', '--no-TTY', 'api', 'test', '-e', document);
    await installation.compose('start', 'proxy');
    await withPurchases(() => sleep(10_000));
    await shop.allPaid(purchases);
  },
  10 * MINUTE_MS,
);

step(
  'a mistake is undone by the backup of the time before it',
  async () => {
    const kept = await shop.buy({ orderNo: 'BEFORE', phone: '0911000001' });
    await until('it to be paid', async () => (await shop.statusOf(kept)) === 'SUCCESS', MINUTE_MS);
    const psql = ['psql', '--username', 'postgres', '--tuples-only', '--no-align', '--command', 'SELECT now()'];
    const time = (await installation.compose('exec', '--no-TTY', 'postgres', ...psql)).trim();
    await sleep(1_000);
    const mistake = await shop.buy({ orderNo: 'AFTER', phone: '0911000001' });
    await installation.execute('deploy/restore', [time]);
    await installation.compose('start', 'proxy');
    await until('the API', async () => (await shop.statusOf(kept).catch(() => '')) === 'SUCCESS', MINUTE_MS);
    await expect(shop.statusOf(mistake)).rejects.toThrow(/404/);
    await withPurchases(() => sleep(5_000));
    await expect(installation.execute('deploy/restore', ['2020-01-01 00:00:00+00'])).rejects.toThrow(
      /nothing has changed/,
    );
    await installation.compose('up', '--detach', '--wait');
    await expect(shop.statusOf(kept)).resolves.toBe('SUCCESS');
  },
  10 * MINUTE_MS,
);
