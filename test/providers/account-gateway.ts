import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { signCbeBirr, verifyCbeBirr } from '../../src/providers/cbe-birr/signing.ts';
import { SANDBOX_CBE_BIRR, SANDBOX_PATHS } from '../support/sandbox-accounts.ts';

type Message = Record<string, unknown>;
type Row = { transactionId: string };

/** CBE Birr with several tills: checks each request's token and signature, and lets the simulator process it. */
export type AccountGateway = {
  url: string;
  /** The valid hash keys of each till. */
  keys: Map<string, string[]>;
  /** The accepted requests: path, till and hash key, such as `/push 620001 old`. */
  seen: string[];
  /** Answers no request. */
  isSilent: boolean;
  close: () => Promise<void>;
};

/** The settings of an account of the platform: a till, which has its own orders only. */
export const tillSettings = (tillCode: string) => ({
  CBE_BIRR_COMPANY_NAME: 'Meskot',
  CBE_BIRR_TILL_CODE: tillCode,
  CBE_BIRR_TOKEN: `token-${tillCode}`,
  CBE_BIRR_HASH_KEY: 'platform',
});

const REJECTED = { state: 'REJECTED', resultCode: 'INVALID_SIGNATURE' };
const { hashKey: simulatorKey, ...simulatorTill } = SANDBOX_CBE_BIRR;

/** Starts it in front of a simulator. A till has its own orders only, and a row of its own in its statement. */
export async function startAccountGateway(simulatorUrl: string): Promise<AccountGateway> {
  const keys = new Map<string, string[]>();
  const seen: string[] = [];
  const tillOf = new Map<string, string>();

  async function handle(path: string, message: Message): Promise<[status: number, reply: object]> {
    const { tillCode, transactionId: order, signature: _, ...rest } = message;
    const till = String(tillCode);
    const hashKey = keys.get(till)?.find((key) => verifyCbeBirr(message, key));
    if (hashKey === undefined || message['token'] !== `token-${till}`) return [401, REJECTED];
    seen.push(`${path} ${till} ${hashKey}`);
    const id = String(order);
    if (['/push', '/payout'].includes(path)) tillOf.set(id, till);
    else if (path !== '/statement' && tillOf.get(id) !== till) {
      return [200, { state: 'REJECTED', resultCode: 'NOT_FOUND', transactionId: id }];
    }
    const forwarded = { ...rest, ...(order !== undefined && { transactionId: order }), ...simulatorTill };
    const response = await fetch(`${simulatorUrl}${SANDBOX_PATHS.CBE_BIRR}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...forwarded, signature: signCbeBirr(forwarded, simulatorKey) }),
    });
    const reply = (await response.json()) as Message;
    if (path !== '/statement') return [response.status, reply];
    const own = (reply['rows'] as Row[]).filter((row) => tillOf.get(row.transactionId) === till);
    const time = new Date(`${String(rest['statementDate'])}T09:00:00Z`).toISOString();
    const dealing = { type: 'PUSH', amount: '7.00', currency: 'ETB', reference: `OWN-${till}`, time };
    return [200, { ...reply, rows: [...own, { transactionId: `sale-${till}`, ...dealing }] }];
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (gateway.isSilent) return;
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    const [status, reply] = await handle(request.url ?? '', message);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway: AccountGateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    seen,
    isSilent: false,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return gateway;
}
