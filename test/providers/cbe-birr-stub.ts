import { createServer } from 'node:http';

import { listen, stopListening } from '../../src/lib/ports.ts';

/** A CBE Birr that reports one state of every order, and keeps the ids it was queried for. */
export type CbeBirrStub = {
  url: string;
  queries: string[];
  says: (order: { state: string; amount: string }) => void;
  reset: () => void;
  close: () => Promise<void>;
};

const WAITING = { state: 'PENDING', amount: '' };

export async function startCbeBirr(): Promise<CbeBirrStub> {
  let order = WAITING;
  let paid = 0;
  const queries: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { transactionId } = JSON.parse(Buffer.concat(chunks).toString()) as { transactionId: string };
    queries.push(transactionId);
    paid += 1;
    const reply = { transactionId, resultCode: '0', reference: `FT-${paid}`, currency: 'ETB', ...order };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
  });
  return {
    url: await listen(server, { host: '127.0.0.1', port: 0 }),
    queries,
    says: (next) => void (order = next),
    reset: () => {
      order = WAITING;
      queries.length = 0;
    },
    close: () => stopListening(server),
  };
}
