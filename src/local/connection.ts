import { join } from 'node:path';

import { CommandError, EXIT, type Connection } from '../app/commands/api-client.ts';
import { readBaseAddress } from '../lib/base-address.ts';
import { readGiven } from '../lib/given-settings.ts';
import { readState } from './data-folder.ts';

/** The settings of commands on the API. They are read without a schema: loading one takes longer than most commands. */
const NAMES = {
  MESKOT_URL: 'MESKOT_URL',
  MESKOT_OPERATOR_KEY: 'MESKOT_OPERATOR_KEY',
  MESKOT_DATA_DIR: 'MESKOT_DATA_DIR',
} as const;

/**
 * The API of MESKOT_URL, or else of `npm start` in this folder, whose demo operator's key is never sent elsewhere.
 * `project` is the folder of package.json. Throws CommandError.
 */
export async function connectToApi(project: string): Promise<Connection> {
  const given = givenSettings();
  const info = given.MESKOT_URL === undefined ? readState(given.MESKOT_DATA_DIR ?? join(project, '.data')).info : {};
  const url = given.MESKOT_URL ?? info.apiUrl;
  const key = given.MESKOT_OPERATOR_KEY ?? info.operatorKey;
  if (url === undefined) {
    const next = 'run "npm start" here, or set MESKOT_URL and MESKOT_OPERATOR_KEY.';
    throw new CommandError(EXIT.unreachable, `No API is known.\nNext: ${next}`);
  }
  const read = readBaseAddress(url, { path: true });
  if ('problem' in read) throw new CommandError(EXIT.usage, `MESKOT_URL ${read.problem}.`);
  if (key === undefined) {
    throw new CommandError(EXIT.usage, 'MESKOT_OPERATOR_KEY must be set: the key of an operator (ok_…).');
  }
  return { url: read.address, key };
}

function givenSettings(): Partial<Record<keyof typeof NAMES, string>> {
  try {
    return readGiven(Object.keys(NAMES), process.env);
  } catch (error) {
    throw new CommandError(EXIT.usage, (error as Error).message);
  }
}
