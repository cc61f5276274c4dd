import { toAppError } from '../../src/http/response.ts';

const failed = (code: string) => Object.assign(new Error('planted text'), { code });

test.each([
  ['a lock timeout', '55P03'],
  ['a statement timeout', '57014'],
  ['a deadlock', '40P01'],
  ['a serialisation failure', '40001'],
  ['an idle transaction', '25P03'],
  ['a transaction that has failed', '25P02'],
  ['too many connections', '53300'],
])('after %s (%s) a caller may try again', (_what, code) => {
  const { status, headers } = toAppError(failed(code));
  expect([status, headers]).toEqual([503, { 'Retry-After': expect.stringMatching(/^[0-9]+$/) }]);
});

test.each(['23505', '42703', 'XX000'])('an error with the code %s is an internal one, without its text', (code) => {
  const { status, message } = toAppError(failed(code));
  expect([status, message]).toEqual([500, expect.not.stringContaining('planted')]);
});
