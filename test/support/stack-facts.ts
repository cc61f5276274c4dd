/** The environment variable through which the global set-up tells the test files where the servers are. */
export const STACK_VARIABLE = 'MESKOT_TEST_STACK';

/** The migrated database that every test database is a copy of. */
export const TEMPLATE_DATABASE = 'meskot_template';

/** Where the servers are that all test files share. */
export type TestStack = {
  /** PostgreSQL as its own user; the database in it is the maintenance one. */
  superuserUrl: string;
  /** PostgreSQL as the owner of our databases. */
  ownerUrl: string;
  /** PostgreSQL as the application's role. */
  appUrl: string;
  /** Empty where no chosen test file mentions it. */
  temporalAddress: string;
  /** Undefined where no chosen test file mentions it. */
  workflowBundlePath: string | undefined;
};

/** What the global set-up started. */
export function testStack(): TestStack {
  const facts = process.env[STACK_VARIABLE];
  if (facts === undefined) throw new Error('the test servers are not running: start tests with npm test');
  return JSON.parse(facts) as TestStack;
}

/** A workflow of the test server goes on in a new run after about this many events, not only after thousands. */
export const EVENTS_OF_A_RUN = 400;
