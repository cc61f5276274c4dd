import { setTimeout as sleep } from 'node:timers/promises';

import { percentile } from '../bench/numbers.ts';
import { cloneProject } from './installation.ts';
import { API, createMerchant } from './merchant.ts';
import { startTraffic } from './traffic.ts';

/**
 * `npm run bench:compose [-- PER_SECOND…]`: what an installation of the compose file costs when nothing happens, and under
 * purchases, whose own cost on the same machine is not counted.
 */
const RATES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [0, 5, 20, 40];
const SECONDS = 60;
/** What a start leaves to do. */
const SETTLE_MS = 60_000;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const installation = await cloneProject();
try {
  say('starting the installation');
  await installation.compose('--profile', '*', 'down', '--volumes', '--timeout', '2');
  await installation.execute('deploy/init', []);
  const startedAt = performance.now();
  await installation.execute('deploy/release', []);
  say(`ready after ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  const { key } = await createMerchant(installation);
  const subscription = { sandboxReceiver: 'ok', eventTypes: ['*'] };
  await installation.send('POST', `${API}/api/checkout/webhooks/subscriptions`, { key, body: subscription });
  await sleep(SETTLE_MS);
  for (const perSecond of RATES) {
    say(`${perSecond} purchases/s for ${SECONDS} s`);
    const before = await installation.cpuMs();
    const traffic = perSecond > 0 ? startTraffic(installation, { key, perSecond }) : null;
    await sleep(SECONDS * 1_000);
    const result = await traffic?.stop();
    const after = await installation.cpuMs();
    const of = (service: string): number => ((after[service] ?? 0) - (before[service] ?? 0)) / SECONDS;
    const services = Object.keys(after).toSorted((a, b) => of(b) - of(a));
    const total = services.reduce((sum, service) => sum + of(service), 0);
    const parts = services.map((service) => `${service} ${of(service).toFixed(1)}`).join(', ');
    process.stdout.write(`${perSecond}/s: ${total.toFixed(0)} ms of CPU a second (${parts})\n`);
    if (!result) continue;
    const count = result.purchases.length;
    const [p50, p95] = [0.5, 0.95].map((share) => percentile(result.times, share).toFixed(0));
    process.stdout.write(
      `  ${count} purchases, ${result.lost.length} lost, a request p50 ${p50} ms, p95 ${p95} ms, ` +
        `${((total * SECONDS) / count).toFixed(0)} ms of CPU a purchase\n`,
    );
  }
} finally {
  await installation.remove();
}
