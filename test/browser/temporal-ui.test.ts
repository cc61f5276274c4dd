import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import type { Browser, Locator } from 'playwright-core';

import { environment } from '../../src/config.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { readLocalSettings } from '../../src/local/settings.ts';
import { findTemporalBinary, startTemporal, type LocalTemporal } from '../../src/local/temporal.ts';
import { EVENT_CATALOGUE } from '../support/event-catalogue.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, readDelivery, type WorkerFixture } from '../support/worker.ts';
import { launchBrowser, screenshot } from './browser.ts';

const CLICKS_MAX = 5;
const { checkoutOrderNo } = EVENT_CATALOGUE['checkout.failed'].example as { checkoutOrderNo: string };

let folder: string;
let temporal: LocalTemporal;
let fixture: WorkerFixture;
let receiver: Receiver;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meskot-temporal-ui-'));
  const settings = readLocalSettings(environment, resolve(import.meta.dirname, '../..'));
  const { TEMPORAL_CLI_PATH: givenPath, XDG_CACHE_HOME: cacheFolder } = settings;
  temporal = await startTemporal({
    findBinary: () => findTemporalBinary({ givenPath, cacheFolder }),
    folder,
    choosePorts: async () => ({ port: await anyFreePort(), uiPort: await anyFreePort() }),
  });
  fixture = await createWorkerFixture({
    TEMPORAL_ADDRESS: temporal.address,
    TASK_QUEUES: 'webhooks',
    WEBHOOK_RETRY_SCHEDULE_SECONDS: '1',
  });
  await fixture.startWorker().ready;
  receiver = await startReceiver();
  browser = await launchBrowser();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await receiver?.close();
  await fixture?.close();
  await temporal?.stop();
  await rm(folder, { recursive: true, force: true });
});

test(`a failed delivery is found by its order number in the Temporal UI, and resent with at most ${CLICKS_MAX} clicks`, async () => {
  const scope = await fixture.newMerchant();
  await fixture.subscribe(scope, { url: receiver.url });
  receiver.behave({ kind: 'answer', status: 503, body: 'Service <b>Unavailable</b>' });
  const eventId = await fixture.record(scope, 'checkout.failed');
  await until('the delivery to fail', async () => (await readDelivery(fixture.db, eventId)).status === 'FAILED');
  receiver.behave({ kind: 'answer', status: 200, body: 'thanks' });

  const page = await (await browser.newContext({ viewport: { width: 1280, height: 1000 } })).newPage();
  page.setDefaultTimeout(20_000);
  let clicks = 0;
  const click = async (target: Locator): Promise<void> => {
    clicks += 1;
    await target.click();
  };
  const query = `WorkflowType="webhookDelivery" AND CheckoutOrderNo="${checkoutOrderNo}"`;
  await page.goto(`${temporal.uiUrl}/namespaces/default/workflows?query=${encodeURIComponent(query)}`);
  const { workflowId } = await readDelivery(fixture.db, eventId);
  await click(page.getByRole('link', { name: workflowId }).first());
  await click(page.getByRole('button', { name: 'More Actions' }));
  await click(page.getByRole('menuitem', { name: 'Send an Update' }));
  await click(page.locator('dialog[open]').getByTestId('update-select-button'));
  // The option takes the key that chooses it; a click would be the sixth.
  const option = page.locator('dialog[open]').getByRole('option', { name: /^resend/ });
  const submit = page.locator('dialog[open]').getByRole('button', { name: 'Submit' });
  await until('the update to be chosen', async () => {
    if (await option.isVisible()) await option.press('Enter', { timeout: 1_000 }).catch(() => undefined);
    return submit.isEnabled();
  });
  await click(submit);
  await until('the resend', async () => (await readDelivery(fixture.db, eventId)).status === 'DELIVERED');
  await screenshot(page, 'temporal-resent');
  expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
}, 120_000);
