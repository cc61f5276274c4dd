import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { readBody } from '../../lib/body.ts';
import { decrypt, type KeyRing } from '../../lib/crypto.ts';
import type { Queryable } from '../../lib/db.ts';
import type { Logger } from '../../lib/log.ts';
import { listen, stopListening } from '../../lib/ports.ts';
import { verifyWebhook, WebhookVerificationError } from '../../sdk/index.ts';
import { createSender, type Sender } from '../delivery/send.ts';
import { createEgressGuard } from '../egress/egress.ts';
import type { SandboxReceiver } from '../subscriptions/schema.ts';
import { findReceiver, storeRequest, type ReceiverTarget } from './requests.ts';

const HEADER_BYTES_MAX = 32_768;
const BODY_BYTES_MAX = 1_048_576;
/** Longer than a sender waits, which counts as a timeout. */
const SLOW_MS = 4_000;
const ANSWERS: Record<SandboxReceiver, { status: number; delayMs: number }> = {
  ok: { status: 200, delayMs: 0 },
  error: { status: 500, delayMs: 0 },
  slow: { status: 200, delayMs: SLOW_MS },
};

type ReceiverDeps = { db: Queryable; keyRing: KeyRing; log: Pick<Logger, 'error'> };

/** The address of a subscription's receiver, as merchants see it. It takes no requests from outside. */
export function receiverUrl(baseUrl: string, subscriptionId: string): string {
  return `${baseUrl}/sandbox/receiver/${subscriptionId}`;
}

/**
 * The built-in receiver of the sandbox, for merchants without a server: it listens on a loopback port of this process from
 * the first delivery on, verifies signatures with the SDK as a merchant's server does, and stores what it got. Its sender
 * connects to that port only, whatever the URL, so the guard of all other deliveries has no exception for it.
 */
export function createSandboxReceiver(deps: ReceiverDeps): Sender {
  const sender = createSender({ guard: createEgressGuard({ allowLoopback: true, ports: [], deny: [] }) });
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => {
    receive(deps, request, response).catch((error: unknown) => {
      deps.log.error({ err: error }, 'the built-in receiver failed');
      respond(response, 500);
    });
  });
  let origin: Promise<string> | null = null;
  return {
    send: async ({ url, headers, body }) => {
      origin ??= listen(server, { host: '127.0.0.1', port: 0 });
      const { host, pathname } = new URL(url);
      return sender.send({ url: (await origin) + pathname, headers: { ...headers, host }, body });
    },
    close: async () => {
      await sender.close();
      if (origin !== null) await stopListening(server);
    },
  };
}

async function receive(deps: ReceiverDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const to = await findReceiver(deps.db, request.url?.split('/').at(-1) ?? '');
  const body = await readBody(request, BODY_BYTES_MAX);
  if (to === undefined || body === null) return respond(response, to === undefined ? 404 : 413);
  const headers = singleValues(request.headers);
  const problem = signatureProblem(deps, to, { headers, body });
  const { status, delayMs } = ANSWERS[to.sandboxReceiver];
  const httpStatus = problem === null ? status : 401;
  await storeRequest(deps.db, to, { headers, body, problem, httpStatus });
  await sleep(delayMs, undefined, { ref: false });
  respond(response, httpStatus);
}

type Signed = { headers: Record<string, string>; body: Buffer };

/** Why a merchant's server would reject the request; null: the signature is valid. */
function signatureProblem({ keyRing }: ReceiverDeps, to: ReceiverTarget, { headers, body }: Signed): string | null {
  try {
    verifyWebhook(body, headers, decrypt(keyRing, to.id, to.secret));
    return null;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
}

function singleValues(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => name !== '__proto__');
  return Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().join(', ')]));
}

/** A closed connection is a sender that has given up. */
function respond(response: ServerResponse, status: number): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ received: status === 200 }));
}
