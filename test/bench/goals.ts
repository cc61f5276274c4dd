type Limit = { of: string; what: string; unit: string } & ({ atMost: number } | { atLeast: number });

/** The agreed goals of speed and cost; `of` is the number of a goal. */
export const GOALS = {
  list: { of: 'B1', what: 'list of 50 with exact total, CPU', atMost: 1.5, unit: '× baseline' },
  listOfMillion: { of: 'B1', what: 'any list of a merchant with a million transactions, p95', atMost: 200, unit: 'ms' },
  httpStack: { of: 'B3', what: 'HTTP stack without database, CPU', atMost: 3, unit: '× bare' },
  createSessionStatements: { of: 'B4', what: 'create session', atMost: 4, unit: 'statements' },
  confirmPaymentStatements: { of: 'B4', what: 'confirm payment', atMost: 5, unit: 'statements' },
  createWithdrawalStatements: { of: 'B4', what: 'create withdrawal', atMost: 5, unit: 'statements' },
  deliveryStatements: { of: 'B4', what: 'first-try delivery', atMost: 3, unit: 'statements' },
  failedP50: { of: 'B5', what: '"failed" at 100/s, commit to arrival, p50', atMost: 1.5, unit: '× baseline' },
  failedP99: { of: 'B5', what: '"failed" at 100/s, commit to arrival, p99', atMost: 1.5, unit: '× baseline' },
  everyP50: { of: 'B5', what: '"every" at 100/s, p50', atMost: 2, unit: '× "failed"' },
  everyP99: { of: 'B5', what: '"every" at 100/s, p99', atMost: 2, unit: '× "failed"' },
  everyP50Fast: { of: 'B5', what: '"every" at 200/s, p50', atMost: 2, unit: '× "failed"' },
  everyP99Fast: { of: 'B5', what: '"every" at 200/s, p99', atMost: 2, unit: '× "failed"' },
  burstCpu: {
    of: 'B6',
    what: '"failed", CPU of an event in bursts, the worst median',
    atMost: 1.5,
    unit: '× baseline',
  },
  burstRate: { of: 'B6', what: '"failed", delivered/s of bursts, the worst median', atLeast: 0.7, unit: '× baseline' },
  everyCpu: { of: 'B6', what: '"every", CPU of an event', atMost: 1, unit: '× "failed" + null workflow' },
  history: { of: 'B6', what: 'history of a first-try delivery', atMost: 6, unit: 'events' },
  stall: { of: 'B6a', what: 'the longest gap between arrivals in any burst', atMost: 500, unit: 'ms' },
  endpoint: { of: 'B6b', what: 'one healthy endpoint takes', atLeast: 1_000, unit: '/s' },
  startsMissing: { of: 'B6c', what: 'events of a burst without a workflow', atMost: 0, unit: '' },
  startsWithin: { of: 'B6c', what: 'after a burst each event has its workflow within', atMost: 60, unit: 's' },
  everyRate: { of: 'B6c', what: 'delivered/s of that burst', atLeast: 0.9, unit: '× "failed"' },
  startsBesideP50: { of: 'B6c', what: 'deliveries beside 200,000 workflows to start, p50', atMost: 2, unit: '× alone' },
  startsBesideP99: { of: 'B6c', what: 'deliveries beside 200,000 workflows to start, p99', atMost: 2, unit: '× alone' },
  startsBesideRetries: { of: 'B6c', what: 'retries beside them are late, p50', atMost: 2, unit: '× alone' },
  startsBesideMoney: { of: 'B6c', what: 'signals of money beside them, p99', atMost: 2, unit: '× alone' },
  startsRate: { of: 'B6c', what: 'workflows that begin meanwhile', atLeast: 5, unit: '/s' },
  besideOne: { of: 'B7', what: 'a good endpoint beside one that hangs, p99', atMost: 2, unit: '× alone' },
  besideMany: { of: 'B7', what: 'a good endpoint beside 60 that hang, p99', atMost: 2, unit: '× alone' },
  lost: { of: 'B7a', what: 'events lost after kill -9 in a burst', atMost: 0, unit: '' },
  recovered: { of: 'B7a', what: 'last delivery after the restart, the worst', atMost: 10, unit: 's' },
  session: { of: 'B11', what: 'create session, CPU', atMost: 3, unit: '× bare INSERT' },
  sessionWithKey: { of: 'B11', what: 'create session with Idempotency-Key, CPU', atMost: 4, unit: '× bare INSERT' },
  livez: { of: 'B11', what: '/livez, CPU', atMost: 3, unit: '× bare' },
  paymentCpu: { of: 'B12', what: 'session to webhook, CPU of a payment', atMost: 2.5, unit: '× baseline' },
  payments: { of: 'B12', what: 'session to webhook, payments/s', atLeast: 0.6, unit: '× baseline' },
  idle: { of: 'B13', what: 'idle stack, CPU of a second', atMost: 150, unit: '× bare INSERT' },
} as const satisfies Record<string, Limit>;

export type GoalName = keyof typeof GOALS;

/** Goals outside this bench: they need millions of rows, an hour, or an overload of the machine. */
export const NOT_HERE = ['B2', 'B8', 'B9', 'B10'];

export type Measured = Partial<Record<GoalName, number>>;
export type Goal = { of: string; what: string; goal: string; measured: number; unit: string; ok: boolean };

/** The goals with a measured value. */
export function judge(measured: Measured): Goal[] {
  return Object.entries<Limit>(GOALS).flatMap(([name, limit]) => {
    const value = measured[name as GoalName];
    if (value === undefined) return [];
    const { of, what, unit } = limit;
    const [goal, ok] =
      'atMost' in limit ? [`≤ ${limit.atMost}`, value <= limit.atMost] : [`≥ ${limit.atLeast}`, value >= limit.atLeast];
    return [{ of, what, goal, measured: value, unit, ok }];
  });
}
