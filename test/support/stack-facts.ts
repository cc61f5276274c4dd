/** The environment variable with which the global set-up passes the servers' addresses to the test files. */
export const STACK_VARIABLE = 'MESKOT_TEST_STACK';

/** The migrated database that all test databases are copies of. */
export const TEMPLATE_DATABASE = 'meskot_template';

/** The addresses of the servers that all test files share. */
export type TestStack = {
  /** PostgreSQL with its superuser; the database of the URL is the maintenance one. */
  superuserUrl: string;
  /** PostgreSQL with the role that owns our databases. */
  ownerUrl: string;
  /** PostgreSQL with the application's role. */
  appUrl: string;
  /** Empty if no chosen test file needs it. */
  temporalAddress: string;
  /** Undefined if no chosen test file needs it. */
  workflowBundlePath: string | undefined;
  /** The folder of the built program; undefined if no chosen test file needs it. */
  programFolder: string | undefined;
};

/** The addresses that the global set-up recorded. */
export function testStack(): TestStack {
  const facts = process.env[STACK_VARIABLE];
  if (facts === undefined) throw new Error('the test servers are not running: start tests with npm test');
  return JSON.parse(facts) as TestStack;
}

/** A workflow of the test server continues as new after about this many events, instead of after thousands. */
export const EVENTS_OF_A_RUN = 400;
