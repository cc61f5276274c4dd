import { join } from 'node:path';

import { anyFreePort } from '../../src/lib/ports.ts';
import { ensureDatabase, startPostgres } from '../../src/local/postgres.ts';
import { runSql } from '../support/database.ts';
import {
  givePages,
  removeInstallation,
  createInstallation,
  READY_WITHIN_MS,
  type Installation,
} from './installation.ts';
import { UNRELEASED_SCHEMA } from './unreleased-schema.ts';

describe('npm start on a data folder of an unreleased version', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await createInstallation();
    await givePages(installation);
    const folder = join(installation.dataFolder, 'postgres');
    const postgres = await startPostgres({ folder, choosePort: anyFreePort, durable: false });
    await ensureDatabase(postgres.url('postgres', 'owner'), 'meskot');
    await runSql(postgres.url('meskot', 'owner'), UNRELEASED_SCHEMA);
    await postgres.stop();
  }, READY_WITHIN_MS);
  afterAll(() => removeInstallation(installation, undefined), 20_000);

  test(
    'fails with one sentence that names the next step, without a stack trace',
    async () => {
      const failed = installation.run('start');
      await expect(failed.ended).resolves.toBe(1);
      expect(failed.output()).toContain(
        `The data folder ${installation.dataFolder} is of an unreleased version of Meskot: ` +
          '"npm run reset" wipes it and starts afresh.\n',
      );
      expect(failed.output()).not.toMatch(/^ +at /m);
    },
    READY_WITHIN_MS,
  );
});
