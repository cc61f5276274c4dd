import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { toPlainOrderId } from '../../src/providers/exchange.ts';
import { SANDBOX_AWASH, SANDBOX_CBE_BIRR, SANDBOX_TELEBIRR } from '../support/sandbox-accounts.ts';
import { CHANNELS, aPayout, anOrder, connectAdapters, type SandboxChannel } from './sandbox.ts';

const TOKEN = { token: 'Bearer t', effectiveDate: '20260101000000', expirationDate: '20260101010000' };

/** A provider with scripted responses. */
let server: Server;
let say: (response: ServerResponse) => void;
let adapters: ReturnType<typeof connectAdapters>;
let impatient: ReturnType<typeof connectAdapters>;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    if (request.url?.endsWith('/token')) response.end(JSON.stringify(TOKEN));
    else say(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  adapters = connectAdapters(url);
  impatient = connectAdapters(url, { timeoutMs: 500 });
});

afterAll(async () => {
  await adapters.close();
  await impatient.close();
  server.closeAllConnections();
  server.close();
});

function sayJson(body: unknown, status = 200): void {
  say = (response) => {
    response.statusCode = status;
    response.end(JSON.stringify(body));
  };
}

/** The order that a reply is about, as each provider writes it. */
const named = (orderId: string) => ({
  transactionId: orderId,
  merch_order_id: toPlainOrderId(orderId),
});

const both = async (channel: SandboxChannel, from = adapters) => {
  const order = anOrder('http://127.0.0.1:1/');
  return [await from.adapter(channel).initiate(order), await from.adapter(channel).query(order.orderId)];
};

/** The same of payouts, and the list. */
const ofPayouts = async (channel: SandboxChannel, from = adapters) => {
  const order = aPayout('http://127.0.0.1:1/');
  const provider = from.adapter(channel);
  return [
    await provider.payout(order),
    await provider.queryPayout(order.orderId),
    await provider.statement('2026-03-02', null),
  ];
};

describe.each(CHANNELS)('the payment replies of %s', (channel) => {
  test.each([
    ['an empty body', 200, ''],
    ['a page', 200, '<html>maintenance</html>'],
    ['half a JSON', 200, '{"result":"SUC'],
    ['a number', 200, '5'],
    ['null', 200, 'null'],
    ['an object without anything', 200, '{}'],
    ['fields of other types', 200, '{"result":1,"state":2,"code":[]}'],
    ['500', 500, '{"result":"FAIL","code":"1","state":"FAILED","resultCode":"1"}'],
    ['503', 503, ''],
    ['429', 429, '{}'],
    ['a redirect', 302, ''],
    ['more than 64 KiB', 200, `"${'x'.repeat(70_000)}"`],
  ])('a reply with %s is unknown', async (_what, status, text) => {
    say = (response) => {
      response.statusCode = status;
      response.setHeader('location', 'http://127.0.0.1:1/');
      response.end(text);
    };
    for (const outcome of [...(await both(channel)), ...(await ofPayouts(channel))]) {
      expect(outcome).toMatchObject({ kind: 'unknown' });
    }
  });

  test('a broken connection is unknown', async () => {
    say = (response) => response.socket?.destroy();
    for (const outcome of [...(await both(channel)), ...(await ofPayouts(channel))]) {
      expect(outcome).toMatchObject({ kind: 'unknown', reason: 'network' });
    }
  });

  test('a slow reply ends at the timeout', async () => {
    say = (response) => {
      response.write('{');
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    };
    const outcomes = [...(await both(channel, impatient)), ...(await ofPayouts(channel, impatient))];
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'unknown', reason: 'timeout' });
  });
});

describe('telebirr’s replies', () => {
  const query = async (content: object | null, rest: object = { result: 'SUCCESS', code: '0' }) => {
    const { orderId } = anOrder('http://127.0.0.1:1/');
    sayJson({ ...rest, biz_content: content && { merch_order_id: toPlainOrderId(orderId), ...content } });
    return adapters.adapter('TELEBIRR').query(orderId);
  };
  const paid = { trans_id: 'T1', total_amount: '10.00', trans_currency: 'ETB' };

  test.each(['WAIT_PAY', 'PAYING', 'ACCEPTED', 'REFUNDING', 'SOMETHING_NEW', 'constructor', ''])(
    'status "%s" is pending',
    async (word) => expect(await query({ ...paid, order_status: word })).toMatchObject({ kind: 'pending' }),
  );

  test('the status is read from order_status or trade_status', async () => {
    for (const name of ['order_status', 'trade_status']) {
      expect(await query({ ...paid, [name]: 'PAY_SUCCESS' })).toMatchObject({ kind: 'succeeded', amountSantim: 1000n });
    }
  });

  test.each([
    { total_amount: '' },
    { total_amount: '1e3' },
    { total_amount: '-1.00' },
    { trans_id: undefined },
    { trans_currency: undefined },
  ])('a payment reported as paid without %p is unknown', async (without) => {
    expect(await query({ ...paid, order_status: 'PAY_SUCCESS', ...without })).toMatchObject({ kind: 'unknown' });
  });

  test('another currency is returned unchanged', async () => {
    const outcome = await query({ ...paid, order_status: 'PAY_SUCCESS', trans_currency: 'USD' });
    expect(outcome).toMatchObject({ kind: 'succeeded', currency: 'USD' });
  });

  test('a rejected query leaves the payment unknown', async () => {
    expect(await query(null, { result: 'FAIL', code: 'BUSY', msg: 'later' })).toMatchObject({ kind: 'unknown' });
  });

  test('a rejected order is declined, one that exists already is pending', async () => {
    const initiate = () => adapters.adapter('TELEBIRR').initiate(anOrder('http://127.0.0.1:1/'));
    sayJson({ result: 'FAIL', code: 'NEW_REASON', msg: 'no' });
    expect(await initiate()).toMatchObject({
      kind: 'declined',
      failure: { code: 'REJECTED', providerCode: 'NEW_REASON' },
    });
    sayJson({ result: 'FAIL', code: 'ORDER_EXIST', msg: 'again' });
    expect(await initiate()).toMatchObject({ kind: 'pending' });
    sayJson({ code: 'BUSY', msg: 'later' });
    expect(await initiate()).toMatchObject({ kind: 'unknown' });
  });
});

test.each([
  ['CBE_BIRR', 'REJECTED', 200],
  ['CBE_BIRR', 'FAILED', 400],
  ['AWASH', 'REJECTED', 401],
] as const)(
  'a query that %s rejects with %s and status %d leaves the payment unknown',
  async (channel, state, status) => {
    sayJson({ state, resultCode: 'INVALID_SIGNATURE' }, status);
    const { orderId } = anOrder('http://127.0.0.1:1/');
    expect(await adapters.adapter(channel).query(orderId)).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
  },
);

test.each([
  ['CBE_BIRR', 'FAILED'],
  ['AWASH', 'FAILED'],
] as const)('an order that %s reports as %s is declined', async (channel, state) => {
  const { orderId } = anOrder('http://127.0.0.1:1/');
  sayJson({ ...named(orderId), state, resultCode: 'DECLINED' });
  expect(await adapters.adapter(channel).query(orderId)).toMatchObject({ kind: 'declined' });
});

test.each(['CBE_BIRR', 'AWASH'] as const)('an undocumented state of %s is unknown', async (channel) => {
  sayJson({ state: 'SOMETHING_NEW', resultCode: '0' });
  for (const outcome of await both(channel)) expect(outcome).toMatchObject({ kind: 'unknown' });
});

test.each([
  ['TELEBIRR', { result: 'FAIL', code: 'INVALID_SIGN', msg: 'no' }],
  ['TELEBIRR', { result: 'FAIL', code: 'ORDER_EXIST', msg: 'no' }],
  ['TELEBIRR', { result: 'FAIL', code: 'SOMETHING_NEW' }],
  ['TELEBIRR', { code: 'INVALID_PAYEE' }],
  ['CBE_BIRR', { state: 'REJECTED', resultCode: 'INVALID_SIGNATURE' }],
  ['CBE_BIRR', { state: 'REJECTED', resultCode: 'DUPLICATE_TRANSACTION' }],
  ['AWASH', { state: 'REJECTED', resultCode: 'INVALID_SIGNATURE' }],
  ['AWASH', { state: 'REJECTED', resultCode: 'INVALID_MSISDN' }],
] as const)(
  'a payout that %s rejects with %p is unknown: an earlier submission may have succeeded',
  async (channel, body) => {
    sayJson(body, channel === 'AWASH' ? 401 : 200);
    for (const outcome of await ofPayouts(channel)) {
      expect(outcome).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
    }
  },
);

describe.each([
  ['TELEBIRR', 'order_status', (payout: object) => ({ result: 'SUCCESS', biz_content: payout })],
  ['CBE_BIRR', 'state', (payout: object) => ({ resultCode: '0', ...payout })],
  ['AWASH', 'state', (payout: object) => ({ resultCode: '0', ...payout })],
] as const)('the payout replies of %s', (channel, word, answer) => {
  const query = (payout: object) => {
    const { orderId } = aPayout('http://127.0.0.1:1/');
    sayJson(answer({ ...named(orderId), ...payout }));
    return adapters.adapter(channel).queryPayout(orderId);
  };
  const [paid, reversed] = {
    TELEBIRR: ['TRANSFER_SUCCESS', 'TRANSFER_REVERSED'],
    CBE_BIRR: ['COMPLETED', 'REVERSED'],
    AWASH: ['COMPLETED', 'REVERSED'],
  }[channel] as [string, string];
  const reference = { reference: 'R1', trans_id: 'R1' };
  const money = { amount: '10.00', currency: 'ETB', total_amount: '10.00', trans_currency: 'ETB' };

  test('a payout reported as paid or reversed without amount, currency or reference is unknown', async () => {
    expect(await query({ [word]: paid, ...reference, ...money })).toMatchObject({
      kind: 'succeeded',
      amountSantim: 1000n,
    });
    expect(await query({ [word]: paid, ...money })).toMatchObject({ kind: 'unknown' });
    expect(await query({ [word]: paid, ...reference })).toMatchObject({ kind: 'unknown' });
    expect(await query({ [word]: paid, ...reference, ...money, amount: '-1', total_amount: '-1' })).toMatchObject({
      kind: 'unknown',
    });
    const back = { kind: 'reversed', providerReference: 'R1', amountSantim: 1000n, currency: 'ETB' };
    expect(await query({ [word]: reversed, ...reference, ...money })).toMatchObject(back);
    expect(await query({ [word]: reversed, ...money })).toMatchObject({ kind: 'unknown' });
    expect(await query({ [word]: reversed, ...reference })).toMatchObject({ kind: 'unknown' });
  });

  test('an undocumented status decides nothing', async () => {
    const outcome = await query({ [word]: 'SOMETHING_NEW', ...reference, ...money });
    expect(['unknown', 'pending']).toContain(outcome.kind);
  });
});

test.each([
  ['another type', { type: 'FEE' }],
  ['an amount that is none', { amount: '1e3' }],
  ['a time that is none', { time: 'noon' }],
  ['no reference', { reference: '' }],
])('a statement page with a row of %s is unknown as a whole', async (_what, tx) => {
  const row = {
    transactionId: 'wd_1',
    type: 'PAYOUT',
    amount: '1.00',
    currency: 'ETB',
    reference: 'R',
    time: '2026-03-02T09:00Z',
  };
  const list = (rows: object[]) => {
    sayJson({ rows, nextCursor: '' });
    return adapters.adapter('AWASH').statement('2026-03-02', null);
  };
  expect(await list([row, row])).toMatchObject({ kind: 'page', rows: [{ amountSantim: 100n }, {}] });
  expect(await list([row, { ...row, ...tx }])).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
});

const SECRETS = {
  TELEBIRR: [SANDBOX_TELEBIRR.appKey, SANDBOX_TELEBIRR.appSecret, SANDBOX_TELEBIRR.merchantPrivateKey],
  CBE_BIRR: [SANDBOX_CBE_BIRR.token, SANDBOX_CBE_BIRR.hashKey],
  AWASH: [SANDBOX_AWASH.token, SANDBOX_AWASH.hashKey],
};

test.each(CHANNELS)('a secret that %s quotes in a code, reason or reference is in no outcome', async (channel) => {
  for (const secret of SECRETS[channel]) {
    const [code, reason] = [`not known: ${secret}`, `${secret} or ${secret}`];
    sayJson({ result: 'FAIL', code, msg: reason, state: 'REJECTED', resultCode: code, resultDesc: reason });
    const outcomes = [...(await both(channel)), ...(await ofPayouts(channel)).slice(0, 2)];
    const message = 'the request was rejected with not known: …';
    expect(outcomes).toMatchObject([
      { failure: { code: 'REJECTED', providerCode: 'not known: …', message: '… or …' } },
      ...[1, 2, 3].map(() => ({ kind: 'unknown', message })),
    ]);
    const { orderId } = anOrder('http://127.0.0.1:1/');
    const reference = `for ${secret}`;
    const content = { ...named(orderId), order_status: 'PAYING', payment_order_id: reference };
    sayJson({ ...content, result: 'SUCCESS', biz_content: content, state: 'PENDING', resultCode: '0', reference });
    expect(await adapters.adapter(channel).query(orderId)).toMatchObject({ providerReference: 'for …' });
  }
});
