import { X509Certificate } from 'node:crypto';

import { Gauge } from 'prom-client';

import { cachedFor, type Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { DAY_MS, startOfAddisDay } from '../lib/dates.ts';
import type { Logger } from '../lib/log.ts';
import { LIVE_CHANNELS, manifestOf, type LiveChannel } from '../merchants/channels/channel.ts';
import { pemBlocks, settingOf, type LiveProviders } from './settings.ts';

/** When a key, a certificate or credentials end. `what`: the setting that has it, or its end; the id of a merchant's credentials. */
export type Expiry = { what: string; expiresAt: Date };

/** Reads the current ends. Never rejects. */
type ReadExpiries = () => Promise<Expiry[]>;

/** From so many days before the end on, it is warned of. */
export const EXPIRY_WARNING_DAYS = 30;

/** The ends of live providers' credentials, where the settings give them, and of the certificates in the settings. */
export function providerExpiries(providers: LiveProviders): Expiry[] {
  const certificates = LIVE_CHANNELS.flatMap((channel) => certificateExpiries(channel, providers));
  const days = LIVE_CHANNELS.flatMap((channel) => {
    const { credentialsExpireOn: day } = providers[channel].connection;
    return day === undefined ? [] : [{ what: `${channel}_CREDENTIALS_EXPIRE_ON`, expiresAt: startOfAddisDay(day) }];
  });
  return [...certificates, ...days];
}

function certificateExpiries(channel: LiveChannel, providers: LiveProviders): Expiry[] {
  const { endpoint } = providers[channel];
  return Object.entries(manifestOf(channel).service).flatMap(([field, { kind }]) => {
    const expiresAt = kind === 'publicKeys' && endpoint ? latestCertificate(endpoint[field] ?? '') : null;
    return expiresAt ? [{ what: settingOf(channel, field), expiresAt }] : [];
  });
}

/** The end of the last of several keys, each of which verifies; null if one is a plain key, which does not end. */
function latestCertificate(pem: string): Date | null {
  const ends = pemBlocks(pem).map(endOfBlock);
  return ends.some((end) => end === null) ? null : new Date(Math.max(...ends.map(Number)));
}

/** The end of a chain of certificates, which needs all of them. Throws for a text without a certificate. */
export function earliestCertificate(pem: string): Date {
  const ends = pemBlocks(pem).flatMap((block) => endOfBlock(block) ?? []);
  if (ends.length === 0) throw new Error('no certificate');
  return new Date(Math.min(...ends.map(Number)));
}

function endOfBlock(block: string): Date | null {
  return block.startsWith('-----BEGIN CERTIFICATE-----') ? new Date(new X509Certificate(block).validTo) : null;
}

/** How long the ends are kept for the next scrape. */
const CACHED_MS = 60_000;

/** Measures the seconds until each end; negative after it. Created once for each registry. */
export function measureExpiries(registry: Registry, { read, clock }: { read: ReadExpiries; clock: Clock }): void {
  const name = 'meskot_credential_expires_seconds';
  if (registry.getSingleMetric(name)) return;
  const current = cachedFor(CACHED_MS, read);
  new Gauge({
    name,
    help: "Seconds until a provider's credentials or a certificate end; negative after it",
    labelNames: ['what'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { what, expiresAt } of await current()) {
        this.set({ what }, (expiresAt.getTime() - clock().getTime()) / 1_000);
      }
    },
  });
}

type WarnDeps = { read: ReadExpiries; clock: Clock; log: Pick<Logger, 'warn'> };

/** Warns of each end that is at most 30 days away, or over. */
export async function warnOfExpiries({ read, clock, log }: WarnDeps): Promise<void> {
  for (const { what, expiresAt } of await read()) {
    const days = (expiresAt.getTime() - clock().getTime()) / DAY_MS;
    if (days > EXPIRY_WARNING_DAYS) continue;
    const ends = days > 0 ? 'ends soon' : 'has ended';
    log.warn(
      { what, expiresAt, days: Math.floor(days) },
      `a credential ${ends}: renew it (docs/operations/runbooks.md)`,
    );
  }
}
