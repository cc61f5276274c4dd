import {
  givePages,
  removeInstallation,
  createInstallation,
  READY_WITHIN_MS,
  untilRunning,
  type Installation,
  type Run,
} from './installation.ts';

let installations: Installation[] = [];
let copies: Run[] = [];
beforeAll(async () => {
  installations = await Promise.all([createInstallation(), createInstallation()]);
  const [first, second] = installations as [Installation, Installation];
  for (const installation of installations)
    Object.assign(installation.env, { MESKOT_DEMO_PAYMENTS: '0', MESKOT_DEMO_PURCHASE_INTERVAL_SECONDS: '0' });
  for (const [name, value] of Object.entries(first.env)) if (name.endsWith('_PORT')) second.env[name] = value;
  for (const installation of installations) await givePages(installation);
  copies = [first, first, second].map((installation) => installation.run('start'));
}, READY_WITHIN_MS);
afterAll(async () => {
  for (const { process } of copies) process.kill('SIGTERM');
  await Promise.all(copies.map(({ ended }) => ended));
  await Promise.all(installations.map((installation) => removeInstallation(installation, undefined)));
}, 30_000);

describe('copies of npm start that start at the same time with the same ports', () => {
  test(
    'in one data folder: one starts, the other prints its process and exits with 0',
    async () => {
      const [one, other] = copies as [Run, Run];
      await expect(Promise.race([one.ended, other.ended])).resolves.toBe(0);
      const [waiting, starting] = one.process.exitCode === null ? [other, one] : [one, other];
      expect(waiting.output()).toBe(`Meskot is being started here already, by process ${starting.process.pid}.\n`);
      await untilRunning(starting);
    },
    READY_WITHIN_MS,
  );

  test(
    'in two data folders: both run on different ports, and no server is started twice',
    async () => {
      const running = await Promise.all(
        copies.filter(({ process }) => process.exitCode === null).map((copy) => untilRunning(copy)),
      );
      const ended = copies.filter(({ process }) => process.exitCode !== null).map((copy) => copy.output());
      expect(ended).toEqual([expect.stringMatching(/^Meskot is being started here already/)]);
      for (const { output } of running) expect(output()).not.toMatch(/has ended|could not be started/);
      const facts = await Promise.all(installations.map((installation) => installation.status()));
      for (const name of [
        'apiUrl',
        'opsUrl',
        'simulatorUrl',
        'demoShopUrl',
        'metricsUrl',
        'databaseUrl',
        'temporalAddress',
      ] as const) {
        expect(new Set(facts.map((one) => one[name])).size).toBe(2);
      }
    },
    READY_WITHIN_MS,
  );
});
