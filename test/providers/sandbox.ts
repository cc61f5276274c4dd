import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Channel } from '../../src/merchants/channels/channel.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import type {
  PaymentOrder,
  PayoutOrder,
  PayoutOutcome,
  Provider,
  ProviderOutcome,
  RawCallback,
} from '../../src/providers/provider.ts';

export const CHANNELS = ['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const satisfies Channel[];
export type SandboxChannel = (typeof CHANNELS)[number];

export const MINUTE_MS = 60_000;

/** Longer than any busy machine needs: only tests about time limits are impatient. */
const PATIENT_MS = 10_000;

/** The adapters, pointed at a simulator (or anything else that listens). */
export function connectAdapters(
  simulatorUrl: string,
  more: { clock?: Clock; timeoutMs?: number; simulatorPublicUrl?: string | null } = {},
) {
  const http = createHttpClient();
  const find = createFindProvider({ http, clock: systemClock, simulatorUrl, timeoutMs: PATIENT_MS, ...more });
  const adapter = (channel: SandboxChannel): Provider => {
    const provider = find(channel, 'sandbox');
    if (!provider) throw new Error(`no sandbox provider for ${channel}`);
    return provider;
  };
  return { find, adapter, close: () => http.close() };
}

/** A payment of 100.50 ETB from the first sandbox phone, for half an hour, by default. */
export function anOrder(notifyUrl: string, tx: Partial<PaymentOrder> = {}): PaymentOrder {
  return {
    orderId: newId('pat'),
    amountSantim: 10_050n,
    currency: 'ETB',
    phone: '251911000001',
    title: 'Abyssinia Coffee: order #7 (beans & cups)',
    notifyUrl,
    returnUrl: 'http://localhost/checkout/done',
    expiresAt: new Date(Date.now() + 30 * MINUTE_MS),
    ...tx,
  };
}

let payouts = 0;

/** A payout of 250.75 ETB to the first sandbox phone, by default. */
export function aPayout(notifyUrl: string, tx: Partial<PayoutOrder> = {}): PayoutOrder {
  payouts += 1;
  return {
    orderId: `wd_01JD${String(payouts).padStart(22, '0')}`,
    amountSantim: 25_075n,
    currency: 'ETB',
    destination: { kind: 'phone', phone: '251911000001' },
    accountName: 'Abebe Bikila',
    notifyUrl,
    ...tx,
  };
}

/** Asks until the outcome is of this kind; after 10 s, what it is then. */
export function queryUntil(
  provider: Provider,
  orderId: string,
  kind: ProviderOutcome['kind'],
): Promise<ProviderOutcome> {
  return askUntil(() => provider.query(orderId), kind);
}

/** The same of a payout. */
export function queryPayoutUntil(
  provider: Provider,
  orderId: string,
  kind: PayoutOutcome['kind'],
): Promise<PayoutOutcome> {
  return askUntil(() => provider.queryPayout(orderId), kind);
}

async function askUntil<Outcome extends { kind: string }>(
  ask: () => Promise<Outcome>,
  kind: Outcome['kind'],
): Promise<Outcome> {
  const endMs = Date.now() + PATIENT_MS;
  for (;;) {
    const outcome = await ask();
    if (outcome.kind === kind || Date.now() > endMs) return outcome;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export type Inbox = {
  url: string;
  received: RawCallback[];
  /** Waits for so many callbacks; throws when they have not come in 10 s. */
  waitFor: (count: number) => Promise<RawCallback[]>;
  /** Its status by default: 200. */
  status: number;
  /** Answers wait for this. */
  hold: Promise<void> | null;
  close: () => Promise<void>;
};

/** Somewhere for callbacks to go. */
export async function openInbox(): Promise<Inbox> {
  const received: RawCallback[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks) });
    await inbox.hold;
    response.statusCode = inbox.status;
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const inbox: Inbox = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    received,
    status: 200,
    hold: null,
    async waitFor(count) {
      for (const endMs = Date.now() + PATIENT_MS; received.length < count;) {
        if (Date.now() > endMs) throw new Error(`${received.length} of ${count} callbacks came`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return received;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return inbox;
}
