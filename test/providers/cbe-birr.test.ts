import { createServer } from 'node:http';

import { listen, stopListening } from '../../src/lib/ports.ts';
import { anOrder, connectAdapters } from './sandbox.ts';

test.each(['CBE_BIRR', 'AWASH'] as const)(
  'a push of %s in the sandbox has the fields of the protocol, and no others',
  async (channel) => {
    const messages: Record<string, unknown>[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      messages.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
      response.end('{}');
    });
    const adapters = connectAdapters(await listen(server, { host: '127.0.0.1', port: 0 }));
    await adapters.adapter(channel).initiate(anOrder('http://127.0.0.1/callback'));
    await Promise.all([adapters.close(), stopListening(server)]);
    expect(Object.keys(messages[0] ?? {}).toSorted()).toEqual([
      'amount',
      'callBackURL',
      'companyName',
      'currency',
      'expiryTime',
      'phoneNumber',
      'signature',
      'tillCode',
      'token',
      'transactionId',
      'transactionTime',
    ]);
  },
);
