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
  MESKOT_MODE: 'MESKOT_MODE',
  CONSOLE_HOST: 'CONSOLE_HOST',
  CONSOLE_PORT: 'CONSOLE_PORT',
} as const;
type Given = Partial<Record<keyof typeof NAMES, string>>;

const EVERY_ADDRESS = ['0.0.0.0', '::'];

/**
 * The operators' listener of MESKOT_URL, or else of `npm start` in this folder, whose demo operator's key is never sent
 * elsewhere; in production of the API in the same container. `project` is the folder of package.json. Throws CommandError.
 */
export async function connectToApi(project: string): Promise<Connection> {
  const given = givenSettings();
  const info = given.MESKOT_URL === undefined ? readState(given.MESKOT_DATA_DIR ?? join(project, '.data')).info : {};
  const url = given.MESKOT_URL ?? info.opsUrl ?? ownListener(given);
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

function givenSettings(): Given {
  try {
    return readGiven(Object.keys(NAMES), process.env);
  } catch (error) {
    throw new CommandError(EXIT.usage, (error as Error).message);
  }
}

/** Where the API with this process's settings listens for operators; none in local mode, where `npm start` records it. */
function ownListener({ MESKOT_MODE: mode, CONSOLE_HOST: given, CONSOLE_PORT: port }: Given): string | undefined {
  if (mode !== 'production') return undefined;
  const host = !given || EVERY_ADDRESS.includes(given) ? '127.0.0.1' : given;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port || '4004'}`;
}
