import { rows } from '../../../src/lib/db.ts';
import { createCheck } from '../../../src/payouts/check.ts';
import { readWithdrawal } from '../../../src/payouts/withdrawals/queries.ts';
import { WITHDRAWAL } from '../../../src/payouts/withdrawals/withdrawal.ts';
import type { PayoutOutcome } from '../../../src/providers/provider.ts';
import { NOT_THERE, PAID_OUT, REFUSED, TAKEN, UNKNOWN_PAYOUT } from '../../support/withdrawals.ts';
import { CHECK, useWithdrawalFixture } from './fixture.ts';

const LEASE_MS = 10_000;
const UNSENT: PayoutOutcome = { kind: 'unknown', reason: 'circuit-open', message: 'not sent' };

describe('the lease of a withdrawal', () => {
  const fixture = useWithdrawalFixture();

  const requests = () => fixture.provider.payoutQueries.map(({ operation }) => operation);

  test('while one process queries the provider, another one neither queries nor sends', async () => {
    const id = await fixture.ready();
    let release: (outcome: PayoutOutcome) => void = () => undefined;
    fixture.provider.returnsForPayouts(() => new Promise((resolve) => (release = resolve)), NOT_THERE);
    const first = fixture.checkPayout(id, CHECK);
    while (requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
    const another = createCheck(fixture, WITHDRAWAL);
    const checked = await Promise.all([another(id, CHECK), another(id, { ...CHECK, proof: true })]);
    expect(checked.map(({ queried, outcome }) => ({ queried, outcome }))).toEqual([
      { queried: false, outcome: null },
      { queried: false, outcome: null },
    ]);
    expect(requests()).toEqual(['payout']);
    release(PAID_OUT);
    expect(await first).toMatchObject({ queried: true, row: { status: 'SUCCESS' } });
    expect(await fixture.balance()).toEqual([894_25n, 0n]);
  });

  test('a report that arrives after its lease has expired does not replace that of a later check', async () => {
    const id = await fixture.ready();
    let release: (outcome: PayoutOutcome) => void = () => undefined;
    fixture.provider.returnsForPayouts(() => new Promise((resolve) => (release = resolve)), TAKEN);
    const first = fixture.checkPayout(id, CHECK);
    while (requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
    fixture.pass(LEASE_MS);
    const later = await createCheck(fixture, WITHDRAWAL)(id, CHECK);
    expect(later).toMatchObject({ queried: true, row: { stage: 'SUBMITTED', lastOutcome: 'accepted' } });
    release(UNKNOWN_PAYOUT);
    await first;
    expect(await readWithdrawal(fixture.db, id)).toEqual(later.row);
  });

  test.each([
    ['a decline', 'releases nothing', REFUSED],
    ['that it was not sent', 'takes nothing back', UNSENT],
  ])(
    '%s that arrives after its lease has expired %s: a later check has sent it again',
    async (_what, _does, outcome) => {
      const id = await fixture.ready();
      let release: (outcome: PayoutOutcome) => void = () => undefined;
      fixture.provider.returnsForPayouts(() => new Promise((resolve) => (release = resolve)), NOT_THERE, TAKEN);
      const first = fixture.checkPayout(id, CHECK);
      while (requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
      fixture.pass(LEASE_MS);
      const later = await createCheck(fixture, WITHDRAWAL)(id, CHECK);
      release(outcome);
      expect((await first).row).toEqual(later.row);
      expect(await readWithdrawal(fixture.db, id)).toEqual(later.row);
    },
  );

  test('a withdrawal leased by a dead process is checked again when the lease expires, and no earlier', async () => {
    const id = await fixture.ready();
    await fixture.checkPayout(id, CHECK);
    const until = new Date(fixture.clock().getTime() + LEASE_MS);
    await rows(fixture.db, 'UPDATE payout SET lease_until = :until WHERE id = :id', { id, until });
    fixture.provider.returnsForPayouts(PAID_OUT);
    fixture.pass(LEASE_MS - 1);
    expect(await fixture.checkPayout(id, CHECK)).toMatchObject({ queried: false, row: { status: 'PENDING' } });
    expect(requests()).toEqual(['payout']);
    fixture.pass(1);
    expect(await fixture.checkPayout(id, CHECK)).toMatchObject({ queried: true, row: { status: 'SUCCESS' } });
    expect(requests()).toEqual(['payout', 'queryPayout']);
  });
});
