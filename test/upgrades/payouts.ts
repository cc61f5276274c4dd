import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Database } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { TestDatabase } from '../support/database.ts';
import { saveRows, upgradeRows, type SavedRows } from './rows.ts';

/** A withdrawal or refund, and what the API said about it when its rows were saved. */
type SavedPayout = { merchantId: string; id: string; answer: Record<string, unknown> };
type Saved = { payouts: Record<string, SavedPayout>; rows: SavedRows };

/** The fixture of a kind of payout. */
type PayoutFixture = {
  db: Database;
  scope: MerchantScope;
  newMerchant: () => Promise<void>;
  read: (id: string) => Promise<Record<string, unknown>>;
};

/** With RECORD_ROWS=yes the stories are lived through anew, and their rows written over the saved ones. */
const isRecording = process.env['RECORD_ROWS'] === 'yes';
const fileOf = (name: string): string => join(import.meta.dirname, `${name}.json`);
const readSaved = async (name: string): Promise<Saved> => JSON.parse(await readFile(fileOf(name), 'utf8')) as Saved;

/** What a fixture opens: the database of the saved rows after all migrations, or a new one to record them in. */
export const openSaved = (name: string, createNew: () => Promise<TestDatabase>) => async (): Promise<TestDatabase> =>
  isRecording ? createNew() : upgradeRows((await readSaved(name)).rows);

/**
 * Tests that payouts of an earlier release are the same for the API after all migrations. `stories`: payouts in every stage
 * and with every end, each of a merchant of its own. Returns a function that calls `work` for each in one of the stages.
 */
export function testSaved(
  name: string,
  fixture: PayoutFixture,
  stories: Readonly<Record<string, () => Promise<string>>>,
): (stages: readonly string[], work: (id: string) => Promise<void>) => Promise<void> {
  let saved: Saved;
  beforeAll(async () => {
    if (isRecording) await writeFile(fileOf(name), `${JSON.stringify(await record(fixture, stories), null, 1)}\n`);
    saved = await readSaved(name);
    expect(Object.keys(saved.payouts)).toEqual(Object.keys(stories));
  });
  const actFor = (merchantId: string): void => void (fixture.scope = { merchantId, environment: 'sandbox' });

  test.each(Object.keys(stories))('one of 0.1.0 that %s is the same after all migrations', async (story) => {
    const { merchantId, id, answer } = saved.payouts[story]!;
    actFor(merchantId);
    expect(await fixture.read(id)).toEqual(answer);
  });

  return async (stages, work) => {
    const found = Object.values(saved.payouts).filter(({ answer }) => stages.includes(String(answer['stage'])));
    expect(new Set(found.map(({ answer }) => answer['stage']))).toEqual(new Set(stages));
    for (const { merchantId, id } of found) {
      actFor(merchantId);
      await work(id);
    }
  };
}

async function record(
  fixture: PayoutFixture,
  stories: Readonly<Record<string, () => Promise<string>>>,
): Promise<Saved> {
  const payouts: Saved['payouts'] = {};
  for (const [story, live] of Object.entries(stories)) {
    await fixture.newMerchant();
    const id = await live();
    payouts[story] = { merchantId: fixture.scope.merchantId, id, answer: await fixture.read(id) };
  }
  return { payouts, rows: await saveRows(fixture.db) };
}
