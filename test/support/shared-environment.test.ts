import { createRequire } from 'node:module';

import type { TestEnvironment } from 'jest-environment-node';

const { default: Environment } = (await import(`${import.meta.dirname}/shared-environment.mjs`)) as {
  default: typeof TestEnvironment;
};
const projectConfig = { globals: {}, testEnvironmentOptions: {}, fakeTimers: {}, rootDir: import.meta.dirname };
const [config, context] = [{ globalConfig: {}, projectConfig }, {}] as unknown as ConstructorParameters<
  typeof Environment
>;

test('a test file finds the globals and variables that an earlier file of the same process has changed as they were', async () => {
  const first = new Environment(config, context);
  await first.setup();
  const { Date: date, fetch, process } = first.global;
  const { exit } = process;
  const handlers = Symbol.for('EVENT_HANDLERS');
  Object.assign(first.global, { Date: class {}, fetch: undefined, [handlers]: [() => {}] });
  process.env['LEFT_BY_A_FILE'] = '1';
  delete process.env['PATH'];
  process.exit = () => {
    throw new Error('not the original');
  };
  await first.teardown();

  const second = new Environment(config, context);
  await second.setup();
  expect(second.global).toBe(first.global);
  expect(second.global).not.toHaveProperty([handlers]);
  expect(second.global.Date).toBe(date);
  expect(second.global.fetch).toBe(fetch);
  expect(second.global.process.exit).toBe(exit);
  expect(second.global.process.env).toEqual(globalThis.process.env);
});

test('imported and required packages share their classes with the product', async () => {
  const { default: pg } = await import('pg');
  const required = createRequire(import.meta.url)('pg') as typeof pg;
  expect(required.Client).toBe(pg.Client);
  expect(new pg.DatabaseError('text', 1, 'error')).toBeInstanceOf(Error);
});
