import type { Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { COMMON_OPTIONS, type Verb, type Write } from '../../lib/command-line.ts';
import type { Database } from '../../lib/db.ts';
import type { RunInTransaction } from '../../outbox/record.ts';

/** The options of all verbs of `meskot ops`. */
export const OPTIONS = {
  operator: { type: 'string' },
  kind: { type: 'string' },
  merchant: { type: 'string' },
  resource: { type: 'string' },
  attempt: { type: 'string' },
  submission: { type: 'string' },
  as: { type: 'string' },
  paid: { type: 'string' },
  amount: { type: 'string' },
  reason: { type: 'string' },
  reference: { type: 'string' },
  on: { type: 'string' },
  year: { type: 'string' },
  days: { type: 'string' },
  memorial: { type: 'boolean' },
  live: { type: 'boolean' },
  ...COMMON_OPTIONS,
} as const;

export type OpsCommandDeps = {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  /** The acting operator without --operator: that of the demo data. */
  demoOperatorId: string;
  /** The table of /api/ops, as the API serves it. */
  routes: readonly Route[];
  write: Write;
};

export type OpsVerb = Verb<typeof OPTIONS>;
export type OpsOptions = Parameters<OpsVerb>[0]['options'];
