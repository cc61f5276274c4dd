import { AwayError } from '../../src/lib/errors.ts';
import { createLogger } from '../../src/lib/log.ts';

test('what is away is told in one line without a stack, and the next ones within 10 s are left out', () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('info', 'test', { write: (line) => void lines.push(JSON.parse(line)) });
  for (const workflowId of ['a', 'b', 'c']) log.warn({ err: new AwayError('no answer'), workflowId }, 'not told');
  log.warn({ err: new AwayError('no answer') }, 'another message');
  log.warn({ err: new Error('a bug') }, 'not told');
  expect(lines.map(({ msg, workflowId }) => [msg, workflowId])).toEqual([
    ['not told', 'a'],
    ['another message', undefined],
    ['not told', undefined],
  ]);
  expect(lines[0]?.['err']).toEqual({ name: 'AwayError', message: 'no answer' });
  expect(lines[2]?.['err']).toMatchObject({ stack: expect.any(Array) });
});
