import { join } from 'node:path';

import { anyFreePort } from '../../src/lib/free-port.ts';
import { ensureDatabase, startPostgres } from '../../src/local/postgres.ts';
import { runSql } from '../support/database.ts';
import { clearHouse, createHouse, READY_WITHIN_MS, type House } from './house.ts';
import { UNRELEASED_SCHEMA } from './unreleased-schema.ts';

describe('npm start on a data folder of an unreleased version', () => {
  let house: House;

  beforeAll(async () => {
    house = await createHouse();
    const folder = join(house.dataFolder, 'postgres');
    const postgres = await startPostgres({ folder, choosePort: anyFreePort, durable: false });
    await ensureDatabase(postgres.url('postgres', 'owner'), 'meskot');
    await runSql(postgres.url('meskot', 'owner'), UNRELEASED_SCHEMA);
    await postgres.stop();
  }, READY_WITHIN_MS);
  afterAll(() => clearHouse(house, undefined), 20_000);

  test(
    'fails with one sentence that says what to do, and no stack trace',
    async () => {
      const refused = house.run('start');
      await expect(refused.ended).resolves.toBe(1);
      expect(refused.output()).toContain(
        `The data folder ${house.dataFolder} is of an unreleased version of Meskot: ` +
          '"npm run reset" wipes it and starts afresh.\n',
      );
      expect(refused.output()).not.toMatch(/^ +at /m);
    },
    READY_WITHIN_MS,
  );
});
