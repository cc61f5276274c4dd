import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { ERROR_STATUS } from '../../src/lib/errors.ts';
import { ISSUE_CODES, ruleOf } from '../../src/lib/issues.ts';
import { SANDBOX_REASONS, messageCodeOf } from '../../src/lib/sandbox-reasons.ts';
import { FAILURE_CODES } from '../../src/webhooks/delivery/failure.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ETHIOPIC = /\p{Script=Ethiopic}/u;
const PARAMS = {
  minimum: 5,
  maximum: 5,
  available: 5,
  allowed: 'TELEBIRR, AWASH',
  reason: 'DISABLED',
  expected: 'int',
  earliest: '2026-11-01',
  latest: '2026-11-28',
};

type Issues = { meaningOf: (issue: object) => { text: string; isComplete: boolean } };
type Meanings = { amharicOf: (code: string) => string | undefined };

/** A file of the pages as a browser loads it in a language. */
async function load<File>(file: string, language: string): Promise<File> {
  import.meta.jest.resetModules();
  Object.assign(globalThis, {
    localStorage: { getItem: () => language },
    document: { documentElement: {} },
  });
  return (await import(join(ROOT, 'portal/ui', file))) as File;
}

afterAll(() => {
  for (const name of ['localStorage', 'document']) Reflect.deleteProperty(globalThis, name);
});

const codes = Object.keys(ISSUE_CODES);

test('each code of a field that the API has is a sentence in English and in Amharic, with its parameters', async () => {
  const english = (await load<Issues>('issues.ts', 'en')).meaningOf;
  const amharic = (await load<Issues>('issues.ts', 'am')).meaningOf;
  for (const code of codes) {
    const [en, am] = [english({ code, params: PARAMS }).text, amharic({ code, params: PARAMS }).text];
    expect([code, en, ETHIOPIC.test(en), /undefined|NaN/.test(en + am)]).toEqual([
      code,
      expect.stringMatching(/[.…]$/),
      false,
      false,
    ]);
    expect([code, ETHIOPIC.test(am)]).toEqual([code, true]);
  }
  expect(amharic({ code: 'of_a_later_version' })).toEqual({ text: 'ይህ ተቀባይነት የለውም።', isComplete: false });
});

test('each code of an error, of a failed delivery and of a reason of the sandbox has its meaning in Amharic', async () => {
  const { amharicOf } = await load<Meanings>('api-meanings.ts', 'am');
  for (const code of [...Object.keys(ERROR_STATUS), ...FAILURE_CODES, ...Object.keys(SANDBOX_REASONS)]) {
    expect([code, ETHIOPIC.test(amharicOf(code) ?? '')]).toEqual([code, true]);
  }
});

test('each code of a field is given by some rule or error of the API', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && file !== 'lib/issues.ts',
  );
  const sources = files.map((file) => readFileSync(join(ROOT, 'src', file), 'utf8')).join('\n');
  const own = readFileSync(join(ROOT, 'src/lib/issues.ts'), 'utf8');
  // As the code of an issue or of a schema's rule; those of sizes stand in pairs.
  const places = /\b(?:code(?::| =) |ruleOf\(\s*)'([a-z_]+)'|\['(too_[a-z]+)', '(too_[a-z]+)'\]/g;
  const given = [...`${sources}\n${own}`.matchAll(places)].flatMap(([, ...found]) => found);
  expect(codes.filter((code) => !given.includes(code))).toEqual([]);
  expect(ruleOf('too_many', { maximum: 2 })).toEqual({ issue: { code: 'too_many', params: { maximum: 2 } } });
});

test('a message that is the reason of the sandbox has its code, and the words of a person have none', () => {
  expect(messageCodeOf(SANDBOX_REASONS.SANDBOX_TIN_REJECTED)).toEqual({ messageCode: 'SANDBOX_TIN_REJECTED' });
  expect(messageCodeOf('The trade licence has expired.')).toEqual({});
  expect(messageCodeOf(null)).toEqual({});
});
