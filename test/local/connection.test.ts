import { rm } from 'node:fs/promises';

import { createInstallation } from './installation.ts';

test.each([
  [{}, 5, 'No API is known.\nNext: run "npm start" here, or set MESKOT_URL and MESKOT_OPERATOR_KEY.\n'],
  [{ MESKOT_URL: 'http://127.0.0.1:9999' }, 2, 'MESKOT_OPERATOR_KEY must be set: the key of an operator (ok_…).\n'],
  [
    { MESKOT_URL: 'pay', MESKOT_OPERATOR_KEY: 'ok_1' },
    2,
    /^MESKOT_URL must be a full address such as https:\/\/pay.example.et: /,
  ],
  [
    { MESKOT_URL: 'http://127.0.0.1:9999/', MESKOT_OPERATOR_KEY: 'ok_1' },
    5,
    /^The API at http:\/\/127.0.0.1:9999 does/,
  ],
  // In a container: the API of the same one.
  [
    { MESKOT_MODE: 'production', CONSOLE_HOST: '0.0.0.0', CONSOLE_PORT: '9999', MESKOT_OPERATOR_KEY: 'ok_1' },
    5,
    /^The API at http:\/\/127.0.0.1:9999 does/,
  ],
])('a command on the API with the settings %j and no local start exits %i', async (settings, exitCode, output) => {
  const { run, folder, env } = await createInstallation();
  Object.assign(env, settings);
  const command = run('work', 'list');
  await expect(command.ended).resolves.toBe(exitCode);
  expect(command.output()).toEqual(typeof output === 'string' ? output : expect.stringMatching(output));
  await rm(folder, { recursive: true });
});
