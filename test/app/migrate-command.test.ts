import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';

import { prepare } from '../../src/app/commands/database.ts';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/lib/db.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testStack } from '../support/stack-facts.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function run(settings: Record<string, string>): Promise<{ said: string[]; warned: string[] }> {
  const said: string[] = [];
  const warned: string[] = [];
  await prepare(readConfig({ DATABASE_URL: database.ownerUrl, ...settings }), {
    project: resolve(import.meta.dirname, '../..'),
    print: (line) => void said.push(line),
    warn: (line) => void warned.push(line),
  });
  return { said, warned };
}

test('a namespace that Temporal lacks is made once, with its search attributes', async () => {
  const TEMPORAL_ADDRESS = testStack().temporalAddress;
  const TEMPORAL_NAMESPACE = `prepare-${randomBytes(4).toString('hex')}`;
  const first = await run({ TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE });
  expect(first.said).toEqual([
    'The schema is up to date.',
    expect.stringContaining(`namespace ${TEMPORAL_NAMESPACE},`),
  ]);
  expect(first.said[1]).toContain('search attribute BusinessStatus');

  const second = await run({ TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE });
  expect(second.said[1]).toBe(`Temporal at ${TEMPORAL_ADDRESS} is prepared.`);
  expect([...first.warned, ...second.warned]).toEqual([]);
});

test('a schema of a newer release is reported in one sentence and exits with 0', async () => {
  const scope = openDatabase({ url: database.ownerUrl, poolMax: 1, applicationName: 'test' });
  await scope
    .knex()
    .raw("INSERT INTO schema_migration (name, hash, applied_at) VALUES ('9999-newer.sql', 'newer', now())");
  const { said, warned } = await run({ TEMPORAL_ADDRESS: testStack().temporalAddress });
  await scope.knex().raw("DELETE FROM schema_migration WHERE name = '9999-newer.sql'");
  await scope.destroy();
  expect(said).toEqual([expect.stringContaining('Temporal at')]);
  expect(warned).toEqual([
    'The database has migrations of a newer release (9999-newer.sql); this release runs on it, since migrations only ' +
      'expand the schema (docs/operations/rolling-back.md).',
  ]);
});

test('without Temporal the schema is migrated, and the message names the remaining steps', async () => {
  const { said, warned } = await run({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect(said).toEqual(['The schema is up to date.']);
  expect(warned).toEqual([expect.stringContaining('Temporal at 127.0.0.1:1 does not answer')]);
  expect(warned[0]).toContain('run "meskot migrate" again');
}, 15_000);
