import { setTimeout as sleep } from 'node:timers/promises';

import { createOperator, createOperatorKey } from '../../src/access/operators.ts';
import { readBalance } from '../../src/ledger/balance.ts';
import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { isOpen, type SettlementStatus } from '../../src/settlements/states.ts';
import { settlementWorkflowId } from '../../src/settlements/workflow-input.ts';
import { expectInvariants } from '../invariants/check.ts';
import { buildWorld } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createMerchantClient, type MerchantClient } from '../support/merchant-client.ts';
import { startProgram, type Program } from '../support/program.ts';
import { linkAccount, standing } from '../support/settlements.ts';
import { fund } from '../support/withdrawals.ts';
import { until } from '../support/worker.ts';
import { createGround, untilQuiet, type Ground, type GroundMerchant } from './ground.ts';

/** What is said of a settlement, where that leads, and what is told and booked of it: in this order of its life. */
const WORDS = {
  approve: { to: 'APPROVED', event: 'settlement.updated', journal: null },
  sent: { to: 'PROCESSING', event: 'settlement.processing', journal: null },
  credited: { to: 'COMPLETED', event: 'settlement.completed', journal: 'SETTLEMENT_PAID' },
  failed: { to: 'FAILED', event: 'settlement.failed', journal: 'SETTLEMENT_RELEASED' },
  reject: { to: 'REJECTED', event: 'settlement.rejected', journal: 'SETTLEMENT_RELEASED' },
  cancel: { to: 'CANCELLED', event: 'settlement.canceled', journal: 'SETTLEMENT_RELEASED' },
} as const satisfies Record<string, { to: SettlementStatus; event: string; journal: string | null }>;
type Word = keyof typeof WORDS;
const LIFE = Object.keys(WORDS) as Word[];

/** What is said of each settlement, step by step; what stands together is said at once, by as many callers. */
const PLANS: readonly (readonly Word[])[][] = [
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
/** Callers leave a busy machine the time to start what was killed. Of every fifth call the first answer is lost. */
const CALLER = { loseEvery: 5, giveUpMs: 90_000, pauseMs: 250 };
const PAUSE_MS_MAX = 300;
/** Sends of one subscription that a process has in flight at most: a kill may repeat each of them once. */
const SENDS_IN_FLIGHT = 10;
/** By their santim the sandbox decides: it waits for operators, or says yes or no after 5 s. */
const AMOUNTS = { waits: 150.14, approved: 150, rejected: 150.13 } as const;

let ground: Ground;
let merchant: GroundMerchant;
let asker: MerchantClient;
let operator: MerchantClient;
let over = false;
const killing: Promise<void>[] = [];
const programs: Partial<Record<keyof typeof KILLS, Program>> = {};

beforeAll(async () => {
  ground = await createGround({ TASK_QUEUES: 'payments,money,webhooks' });
  await start('api');
  await start('worker');
  merchant = await ground.newMerchant();
  const { scope } = merchant;
  asker = createMerchantClient({ ...CALLER, url: ground.url, key: merchant.client.key, scope });
  const clock = () => new Date();
  const money = { ...buildWorld(ground.world.db, { clock }), runInTransaction: ground.world.runInTransaction };
  await fund(money, scope, 50_000_00n);
  await linkAccount(money, scope);
  const { API_KEY_PEPPER: pepper } = ground.world.config;
  const { secret: key } = await ground.world.db.transaction(async (trx) => {
    const { id } = await createOperator(trx, { name: 'Sara', email: 'sara@meskot.example', role: 'finance' });
    return createOperatorKey({ trx, pepper, clock }, { operatorId: id });
  });
  operator = createMerchantClient({ ...CALLER, url: ground.url, key, scope });
}, 60_000);
afterAll(async () => {
  over = true;
  await Promise.allSettled(killing);
  await Promise.all([programs.api?.kill(), programs.worker?.kill()]);
  await ground.close();
});

async function start(name: keyof typeof KILLS): Promise<void> {
  programs[name] = await startProgram(name, ground.settings);
}

const answered = (): number =>
  [asker, operator].flatMap(({ asked }) => asked).filter(({ answers }) => answers.length > 0).length;

/** Kills it at random points of the calls and starts it again each time. */
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

async function ask(amount: number): Promise<string> {
  const requestId = `SETTLE-${asker.asked.length}`;
  return String((await asker.post('settlement', { requestId, amount }))['settlementId']);
}

/** Says it over HTTP, the merchant's word or an operator's. The settlement's status then; undefined if it was refused. */
async function say(id: string, word: Word): Promise<unknown> {
  const bodies: Partial<Record<Word, Record<string, string>>> = {
    sent: { bankReference: `FT-${id}` },
    credited: { bankReference: `FT-${id}`, creditedOn: addisDay(new Date()) },
    failed: { reason: 'The account is closed.' },
    reject: { reason: 'No.' },
  };
  await sleep(Math.random() * PAUSE_MS_MAX);
  const { status } =
    word === 'cancel'
      ? await asker.post(`settlement/${id}/cancel`)
      : await operator.post(`../ops/settlements/${id}/${word}`, bodies[word]);
  return status;
}

/**
 * How a settlement must stand: what it came to by what was accepted of it is what it has lived through, and nothing else.
 * `audited`: what operators were not refused; a credit after a failure is noted, and changes nothing.
 */
type Expected = { id: string; status: SettlementStatus; lived: readonly Word[]; audited: readonly Word[] };

async function live(plan: readonly (readonly Word[])[]): Promise<Expected> {
  const id = await ask(AMOUNTS.waits);
  const [accepted, audited] = [new Set<Word>(), new Set<Word>()];
  for (const step of plan) {
    const said = await Promise.all(step.map(async (word) => ({ word, status: await say(id, word) })));
    for (const { word, status } of said) {
      if (status === WORDS[word].to) accepted.add(word);
      if (status !== undefined && word !== 'cancel') audited.add(word);
    }
  }
  const lived = LIFE.filter((word) => accepted.has(word));
  return { ...outcome(id, lived), audited: [...audited] };
}

/** Of what nobody but the sandbox has decided. */
function outcome(id: string, lived: readonly Word[]): Expected {
  const last = lived.at(-1);
  return { id, lived, status: last === undefined ? 'REQUESTED' : WORDS[last].to, audited: [] };
}

const stands = async (id: string) => standing(ground.world.db, id);

async function expectStands({ id, status, lived, audited }: Expected): Promise<void> {
  const journals = lived.flatMap((word) => WORDS[word].journal ?? []);
  const events = ['settlement.requested', ...lived.map((word) => WORDS[word].event)];
  expect({ id, ...(await stands(id)) }).toMatchObject({
    id,
    status,
    version: events.length,
    events,
    journals: ['SETTLEMENT_RESERVED', ...journals],
  });
  const heard = merchant.receiver.requests.flatMap(({ headers, body }) => {
    const { event, data } = JSON.parse(String(body)) as { event: string; data: { settlementId?: string } };
    return data.settlementId === id ? [[String(headers['x-service-event-id']), event] as const] : [];
  });
  expect([...new Map(heard).values()].toSorted()).toEqual(events.toSorted());
  const commands = await rows<{ action: string }>(
    ground.world.db,
    'SELECT action FROM operator_audit WHERE resource_id = :id ORDER BY action',
    { id },
  );
  expect(commands.map(({ action }) => action)).toEqual(audited.map((word) => `settlement.${word}`).toSorted());
}

/** Temporal goes by what the rows say: open ones are looked after, the others are over. */
async function expectLookedAfter({ id, status }: Expected): Promise<void> {
  const handle = ground.world.temporal.client.workflow.getHandle(settlementWorkflowId(id));
  if (isOpen(status)) expect((await handle.describe()).status.name).toBe('RUNNING');
  else expect(await handle.result()).toBe(status);
}

test('settlements come to what was accepted of them, once, however their API and worker are killed', async () => {
  const bySandbox = await Promise.all([ask(AMOUNTS.approved), ask(AMOUNTS.rejected)]);
  const plans = Array.from({ length: EACH }, () => PLANS).flat();
  const living = Promise.all(plans.map(live));
  killing.push(killAtRandom('api'), killAtRandom('worker'));
  await Promise.all([living, ...killing]);
  const [yes, no] = bySandbox;
  const all = [...(await living), outcome(yes, ['approve']), outcome(no, ['reject'])];
  for (const { id, status } of all)
    await until(`${id} to be ${status}`, async () => (await stands(id))['status'] === status);
  await untilQuiet(ground, 45_000);

  for (const expected of all) await expectStands(expected);
  await expectLedgerHolds(ground.world.db);
  const [open] = await rows<{ santim: bigint }>(
    ground.world.db,
    `SELECT CAST(sum(amount_santim + fee_santim + fee_tax_santim) AS bigint) AS santim FROM settlement
     WHERE id = ANY(:ids)`,
    { ids: all.filter(({ status }) => isOpen(status)).map(({ id }) => id) },
  );
  expect((await readBalance(ground.world.db, merchant.scope)).reservedSantim).toBe(open?.santim);
  const duplicatesMax = (KILLS.api + KILLS.worker) * SENDS_IN_FLIGHT;
  // No money came in through the simulator.
  await expectInvariants(async () => ground.gather({ orders: null, duplicatesMax }));
  for (const expected of all) await expectLookedAfter(expected);
}, 180_000);
