import { UnavailableError } from '../../src/lib/errors.ts';
import { createLogger } from '../../src/lib/log.ts';

test('an error of an unavailable system is one line without a stack, and is suppressed for 10 s after it', () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('info', 'test', { destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  for (const workflowId of ['a', 'b', 'c'])
    log.warn({ err: new UnavailableError('no answer'), workflowId }, 'not sent');
  log.warn({ err: new UnavailableError('no answer') }, 'another message');
  log.warn({ err: new Error('a bug') }, 'not sent');
  expect(lines.map(({ msg, workflowId }) => [msg, workflowId])).toEqual([
    ['not sent', 'a'],
    ['another message', undefined],
    ['not sent', undefined],
  ]);
  expect(lines[0]?.['err']).toEqual({ name: 'UnavailableError', message: 'no answer' });
  expect(lines[2]?.['err']).toMatchObject({ stack: expect.any(Array) });
});

test('an error of the database is logged once in 10 s for each place and code, with the number suppressed', () => {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLogger('info', 'test', { destination, nowMs: () => nowMs });
  const failed = (code: string) => Object.assign(new Error('phone 0911…'), { severity: 'ERROR', code });
  const route = 'POST /api/checkout/sessions';
  for (let request = 0; request < 1_000; request += 1) {
    log.error({ err: failed('57014'), requestId: `req_${request}`, route }, 'request failed');
  }
  log.error({ err: failed('57014'), route: 'GET /api/checkout/txns' }, 'request failed');
  log.error({ err: failed('55P03'), route }, 'request failed');
  log.error({ err: Object.assign(new Error('pool'), { name: 'KnexTimeoutError' }), route }, 'request failed');
  nowMs = 10_000;
  log.error({ err: failed('57014'), route }, 'request failed');
  log.error({ err: failed('57014'), route }, 'request failed');
  expect(lines.map((line) => [line['route'], (line['err'] as { code?: string }).code, line['suppressed']])).toEqual([
    [route, '57014', undefined],
    ['GET /api/checkout/txns', '57014', undefined],
    [route, '55P03', undefined],
    [route, undefined, undefined],
    [route, '57014', 999],
  ]);
  expect(JSON.stringify(lines)).not.toContain('0911');
});

test('any other error is logged each time', () => {
  const lines: string[] = [];
  const log = createLogger('info', 'test', { destination: { write: (line) => void lines.push(line) } });
  for (const requestId of ['a', 'b']) log.error({ err: new TypeError('a bug'), requestId }, 'request failed');
  expect(lines).toHaveLength(2);
});
