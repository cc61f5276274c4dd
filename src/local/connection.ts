import { join } from 'node:path';

import { CommandError, EXIT, type Connection } from '../app/commands/api-client.ts';
import { readState } from './data-folder.ts';

/** The settings of commands on the API. They are read without a schema: loading one takes longer than most commands. */
const settings = {
  MESKOT_URL: process.env['MESKOT_URL'],
  MESKOT_OPERATOR_KEY: process.env['MESKOT_OPERATOR_KEY'],
  MESKOT_DATA_DIR: process.env['MESKOT_DATA_DIR'],
  MESKOT_MODE: process.env['MESKOT_MODE'],
  CONSOLE_HOST: process.env['CONSOLE_HOST'],
  CONSOLE_PORT: process.env['CONSOLE_PORT'],
};

const EVERY_ADDRESS = ['0.0.0.0', '::'];

/**
 * The operators' listener of MESKOT_URL, or else of `npm start` in this folder, whose demo operator's key is never sent
 * elsewhere; in production of the API in the same container. `project` is the folder of package.json. Throws CommandError.
 */
export async function connectToApi(project: string): Promise<Connection> {
  const { MESKOT_URL: givenUrl, MESKOT_OPERATOR_KEY: givenKey, MESKOT_DATA_DIR: dataFolder } = settings;
  const info = givenUrl ? {} : readState(dataFolder || join(project, '.data')).info;
  const url = givenUrl || info.opsUrl || ownListener();
  const key = givenKey || info.operatorKey;
  if (url === undefined) {
    const next = 'run "npm start" here, or set MESKOT_URL and MESKOT_OPERATOR_KEY.';
    throw new CommandError(EXIT.unreachable, `No API is known.\nNext: ${next}`);
  }
  if (!/^https?:\/\/[^/]/.test(url)) {
    throw new CommandError(
      EXIT.usage,
      `MESKOT_URL must be an address such as https://console.example.et, got "${url}".`,
    );
  }
  if (key === undefined) {
    throw new CommandError(EXIT.usage, 'MESKOT_OPERATOR_KEY must be set: the key of an operator (ok_…).');
  }
  return { url: url.replace(/\/$/, ''), key };
}

/** Where the API with this process's settings listens for operators; none in local mode, where `npm start` records it. */
function ownListener(): string | undefined {
  const { MESKOT_MODE: mode, CONSOLE_HOST: given, CONSOLE_PORT: port } = settings;
  if (mode !== 'production') return undefined;
  const host = !given || EVERY_ADDRESS.includes(given) ? '127.0.0.1' : given;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port || '4004'}`;
}
