import { rows } from '../../src/lib/db.ts';
import type { PayoutOutcome } from '../../src/providers/provider.ts';
import { readWithdrawal } from '../../src/withdrawals/queries.ts';
import { createCheckPayout } from '../../src/withdrawals/sync.ts';
import { NOT_THERE, PAID_OUT, TAKEN, UNKNOWN_PAYOUT } from '../support/withdrawals.ts';
import { CHECK, useWithdrawalWorld } from './world.ts';

const LEASE_MS = 10_000;

describe('the lease of a withdrawal', () => {
  const world = useWithdrawalWorld();

  const requests = () => world.provider.payoutQueries.map(({ operation }) => operation);

  test('while one process queries the provider, another one neither queries nor sends', async () => {
    const id = await world.ready();
    let release: (outcome: PayoutOutcome) => void = () => undefined;
    world.provider.returnsForPayouts(() => new Promise((resolve) => (release = resolve)), NOT_THERE);
    const first = world.checkPayout(id, CHECK);
    while (requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
    const another = createCheckPayout(world);
    const checked = await Promise.all([another(id, CHECK), another(id, { ...CHECK, proof: true })]);
    expect(checked.map(({ queried, outcome }) => ({ queried, outcome }))).toEqual([
      { queried: false, outcome: null },
      { queried: false, outcome: null },
    ]);
    expect(requests()).toEqual(['payout']);
    release(PAID_OUT);
    expect(await first).toMatchObject({ queried: true, row: { status: 'SUCCESS' } });
    expect(await world.balance()).toEqual([894_25n, 0n]);
  });

  test('a report that arrives after its lease has expired does not replace that of a later check', async () => {
    const id = await world.ready();
    let release: (outcome: PayoutOutcome) => void = () => undefined;
    world.provider.returnsForPayouts(() => new Promise((resolve) => (release = resolve)), TAKEN);
    const first = world.checkPayout(id, CHECK);
    while (requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
    world.pass(LEASE_MS);
    const later = await createCheckPayout(world)(id, CHECK);
    expect(later).toMatchObject({ queried: true, row: { stage: 'SUBMITTED', lastOutcome: 'accepted' } });
    release(UNKNOWN_PAYOUT);
    await first;
    expect(await readWithdrawal(world.db, id)).toEqual(later.row);
  });

  test('a withdrawal leased by a dead process is checked again when the lease expires, and no earlier', async () => {
    const id = await world.ready();
    await world.checkPayout(id, CHECK);
    const until = new Date(world.clock().getTime() + LEASE_MS);
    await rows(world.db, 'UPDATE withdrawal SET lease_until = :until WHERE id = :id', { id, until });
    world.provider.returnsForPayouts(PAID_OUT);
    world.pass(LEASE_MS - 1);
    expect(await world.checkPayout(id, CHECK)).toMatchObject({ queried: false, row: { status: 'PENDING' } });
    expect(requests()).toEqual(['payout']);
    world.pass(1);
    expect(await world.checkPayout(id, CHECK)).toMatchObject({ queried: true, row: { status: 'SUCCESS' } });
    expect(requests()).toEqual(['payout', 'queryPayout']);
  });
});
