import { setTimeout as sleep } from 'node:timers/promises';

import { createOperatorKey } from '../../src/access/api-keys.ts';
import { createOperator } from '../../src/access/operators.ts';
import { readBalance } from '../../src/ledger/balance.ts';
import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { isOpen, type SettlementStatus } from '../../src/settlements/states.ts';
import { settlementWorkflowId } from '../../src/settlements/workflow.ts';
import { expectInvariants } from '../invariants/check.ts';
import { buildFixture } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createMerchantClient, type MerchantClient } from '../support/merchant-client.ts';
import { startProgram, type Program } from '../support/program.ts';
import { linkAccount, stateOfSettlement } from '../support/settlements.ts';
import { until } from '../support/until.ts';
import { fund } from '../support/withdrawals.ts';
import { startChaosService, untilQuiet, type ChaosService, type ChaosMerchant } from './service.ts';

/** The commands in the order of a settlement's life: the status each leads to, its event and its posting. */
const COMMANDS = {
  approve: { to: 'APPROVED', event: 'settlement.updated', journal: null },
  sent: { to: 'PROCESSING', event: 'settlement.processing', journal: null },
  credited: { to: 'COMPLETED', event: 'settlement.completed', journal: 'SETTLEMENT_PAID' },
  failed: { to: 'FAILED', event: 'settlement.failed', journal: 'SETTLEMENT_RELEASED' },
  reject: { to: 'REJECTED', event: 'settlement.rejected', journal: 'SETTLEMENT_RELEASED' },
  cancel: { to: 'CANCELLED', event: 'settlement.canceled', journal: 'SETTLEMENT_RELEASED' },
} as const satisfies Record<string, { to: SettlementStatus; event: string; journal: string | null }>;
type Command = keyof typeof COMMANDS;
const LIFE = Object.keys(COMMANDS) as Command[];

/** The commands for each settlement, step by step; commands of one step are sent concurrently. */
const PLANS: readonly (readonly Command[])[][] = [
  [['approve'], ['sent'], ['credited']],
  [
    ['approve', 'approve'],
    ['sent', 'sent'],
    ['credited', 'credited'],
  ],
  [['approve'], ['sent'], ['credited', 'failed']],
  [['approve'], ['sent'], ['failed', 'failed']],
  [['approve'], ['sent', 'failed']],
  [['approve', 'cancel'], ['sent'], ['credited']],
  [['reject', 'cancel']],
  [['approve', 'reject'], ['sent']],
  [['approve']],
  [],
];
const EACH = 2;
const CALLS = EACH * PLANS.reduce((sum, plan) => sum + 1 + plan.flat().length, 0);
const KILLS = { api: 2, worker: 2 } as const;
/** Clients wait long enough for a restart on a busy machine. Every fifth first response is discarded. */
const CALLER = { loseEvery: 5, giveUpMs: 90_000, pauseMs: 250 };
const PAUSE_MS_MAX = 300;
/** Concurrent sends of one subscription by a process: a kill may repeat each of them once. */
const SENDS_IN_FLIGHT = 10;
/** The santim select the sandbox's behaviour: wait for operators, approve or reject after 5 s. */
const AMOUNTS = { waits: 150.14, approved: 150, rejected: 150.13 } as const;

/** A decision that died with its worker is repeated after its timeout of 30 s. */
const ACTIVITY_REPEATED_MS = 60_000;

let service: ChaosService;
let merchant: ChaosMerchant;
let requester: MerchantClient;
let operator: MerchantClient;
let over = false;
const killing: Promise<void>[] = [];
const programs: Partial<Record<keyof typeof KILLS, Program>> = {};

beforeAll(async () => {
  service = await startChaosService({ TASK_QUEUES: 'payments,money,webhooks' });
  await start('api');
  await start('worker');
  merchant = await service.newMerchant();
  const { scope } = merchant;
  requester = createMerchantClient({ ...CALLER, url: service.url, key: merchant.client.key, scope });
  const clock = () => new Date();
  const money = { ...buildFixture(service.fixture.db, { clock }), runInTransaction: service.fixture.runInTransaction };
  await fund(money, scope, 50_000_00n);
  await linkAccount(money, scope);
  const { API_KEY_PEPPER: pepper } = service.fixture.config;
  const { secret: key } = await service.fixture.db.transaction(async (trx) => {
    const { id } = await createOperator(trx, { name: 'Sara', email: 'sara@meskot.example', role: 'finance' });
    return createOperatorKey({ trx, pepper, clock }, { operatorId: id });
  });
  operator = createMerchantClient({ ...CALLER, url: service.url, key, scope });
}, 60_000);
afterAll(async () => {
  over = true;
  await Promise.allSettled(killing);
  await Promise.all([programs.api?.kill(), programs.worker?.kill()]);
  await service.close();
});

async function start(name: keyof typeof KILLS): Promise<void> {
  programs[name] = await startProgram(name, service.settings);
}

const answered = (): number =>
  [requester, operator].flatMap(({ requests }) => requests).filter(({ responses }) => responses.length > 0).length;

/** Kills a program at random points of the calls and restarts it each time. */
async function killAtRandom(name: keyof typeof KILLS): Promise<void> {
  const kills = KILLS[name];
  const points = Array.from({ length: kills }, (_, nth) => ((nth + Math.random()) / kills) * CALLS * 0.9);
  for (const point of points) {
    while (!over && answered() < point) await sleep(25);
    await sleep(Math.random() * PAUSE_MS_MAX);
    if (over) return;
    await programs[name]?.kill();
    await start(name);
  }
}

async function requestSettlement(amount: number): Promise<string> {
  const requestId = `SETTLE-${requester.requests.length}`;
  return String((await requester.post('settlement', { requestId, amount }))['settlementId']);
}

/**
 * Sends a command over HTTP as the merchant or the operator. Returns the new status; undefined for a rejected command.
 */
async function send(id: string, command: Command): Promise<unknown> {
  const bodies: Partial<Record<Command, Record<string, string>>> = {
    sent: { bankReference: `FT-${id}` },
    credited: { bankReference: `FT-${id}`, creditedOn: addisDay(new Date()) },
    failed: { reason: 'The account is closed.' },
    reject: { reason: 'No.' },
  };
  await sleep(Math.random() * PAUSE_MS_MAX);
  const { status } =
    command === 'cancel'
      ? await requester.post(`settlement/${id}/cancel`)
      : await operator.post(`../ops/settlements/${id}/${command}`, bodies[command]);
  return status;
}

/**
 * The expected state of a settlement: exactly the effects of its accepted commands. `audited`: the accepted commands of
 * operators; a credit after a failure is recorded and changes nothing.
 */
type Expected = { id: string; status: SettlementStatus; lived: readonly Command[]; audited: readonly Command[] };

async function live(plan: readonly (readonly Command[])[]): Promise<Expected> {
  const id = await requestSettlement(AMOUNTS.waits);
  const [accepted, audited] = [new Set<Command>(), new Set<Command>()];
  for (const step of plan) {
    const sent = await Promise.all(step.map(async (command) => ({ command, status: await send(id, command) })));
    for (const { command, status } of sent) {
      if (status === COMMANDS[command].to) accepted.add(command);
      if (status !== undefined && command !== 'cancel') audited.add(command);
    }
  }
  const lived = LIFE.filter((command) => accepted.has(command));
  return { ...outcome(id, lived), audited: [...audited] };
}

/** Settlements that only the sandbox decides. */
function outcome(id: string, lived: readonly Command[]): Expected {
  const last = lived.at(-1);
  return { id, lived, status: last === undefined ? 'REQUESTED' : COMMANDS[last].to, audited: [] };
}

const stateOf = async (id: string) => stateOfSettlement(service.fixture.db, id);

async function expectStateOf({ id, status, lived, audited }: Expected): Promise<void> {
  const journals = lived.flatMap((command) => COMMANDS[command].journal ?? []);
  const events = ['settlement.requested', ...lived.map((command) => COMMANDS[command].event)];
  expect({ id, ...(await stateOf(id)) }).toMatchObject({
    id,
    status,
    version: events.length,
    events,
    journals: ['SETTLEMENT_RESERVED', ...journals],
  });
  const received = merchant.receiver.requests.flatMap(({ headers, body }) => {
    const { event, data } = JSON.parse(String(body)) as { event: string; data: { settlementId?: string } };
    return data.settlementId === id ? [[String(headers['x-service-event-id']), event] as const] : [];
  });
  expect([...new Map(received).values()].toSorted()).toEqual(events.toSorted());
  const audit = await rows<{ action: string }>(
    service.fixture.db,
    'SELECT action FROM operator_audit WHERE resource_id = :id ORDER BY action',
    { id },
  );
  expect(audit.map(({ action }) => action)).toEqual(audited.map((command) => `settlement.${command}`).toSorted());
}

/** Temporal runs the workflows of open rows and of no others. */
async function expectWorkflowOf({ id, status }: Expected): Promise<void> {
  const handle = service.fixture.temporal.client.workflow.getHandle(settlementWorkflowId(id));
  if (isOpen(status)) expect((await handle.describe()).status.name).toBe('RUNNING');
  else expect(await handle.result()).toBe(status);
}

test('settlements of an API and a worker killed at random have exactly the effects of their accepted commands', async () => {
  const bySandbox = await Promise.all([requestSettlement(AMOUNTS.approved), requestSettlement(AMOUNTS.rejected)]);
  const plans = Array.from({ length: EACH }, () => PLANS).flat();
  const living = Promise.all(plans.map(live));
  killing.push(killAtRandom('api'), killAtRandom('worker'));
  await Promise.all([living, ...killing]);
  const [yes, no] = bySandbox;
  const all = [...(await living), outcome(yes, ['approve']), outcome(no, ['reject'])];
  for (const { id, status } of all)
    await until(`${id} to be ${status}`, async () => (await stateOf(id))['status'] === status, ACTIVITY_REPEATED_MS);
  await untilQuiet(service);

  for (const expected of all) await expectStateOf(expected);
  await expectLedgerHolds(service.fixture.db);
  const [open] = await rows<{ santim: bigint }>(
    service.fixture.db,
    `SELECT CAST(sum(amount_santim + fee_santim + fee_tax_santim) AS bigint) AS santim FROM settlement
     WHERE id = ANY(:ids)`,
    { ids: all.filter(({ status }) => isOpen(status)).map(({ id }) => id) },
  );
  expect((await readBalance(service.fixture.db, merchant.scope)).reservedSantim).toBe(open?.santim);
  const duplicatesMax = (KILLS.api + KILLS.worker) * SENDS_IN_FLIGHT;
  // No payment of the simulator is missing from the statements.
  await expectInvariants(async () => service.gather({ orders: null, duplicatesMax }));
  for (const expected of all) await expectWorkflowOf(expected);
}, 180_000);
