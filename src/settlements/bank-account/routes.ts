import { readRoute, writeRoute, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { scopeOf } from '../../lib/scope.ts';
import { findBankAccount, linkBankAccount } from './account.ts';
import * as schema from './schema.ts';
import { presentBankAccount } from './schema.ts';

/** The bank account that a merchant's settlements go to. */
export function bankAccountRoutes({ db, clock }: { db: Database; clock: Clock }): Route[] {
  const shared = { tag: 'Settlements', auth: { by: 'key', scope: 'bank:write' } } as const;
  return [
    readRoute('GET /api/checkout/bank-account', {
      ...shared,
      operationId: 'getBankAccount',
      summary: 'The bank account that settlements go to',
      responses: { 200: schema.BankAccount },
      errors: ['NOT_FOUND'],
      handle: async ({ caller }) => {
        const row = await findBankAccount(db, caller);
        if (row) return { message: 'Bank account retrieved', data: presentBankAccount(row) };
        throw new AppError('NOT_FOUND', 'No bank account is linked. Link one with PUT /api/checkout/bank-account.');
      },
    }),
    writeRoute('PUT /api/checkout/bank-account', {
      ...shared,
      operationId: 'linkBankAccount',
      summary: 'Link the bank account that settlements go to; it replaces the previous one',
      description:
        'The sandbox verifies it at once; in live an operator does, and the replacement of a verified account holds new ' +
        'settlements for 48 hours. Settlements requested before keep their account.',
      body: schema.NewBankAccount,
      responses: { 200: schema.BankAccount },
      handle: async ({ caller, tx, body }) => {
        const wanted = { ...body, requestedBy: caller.keyId, at: clock() };
        const row = await linkBankAccount(tx, scopeOf(caller), wanted);
        return { message: `Bank account linked: it is ${row.status}`, data: presentBankAccount(row) };
      },
    }),
  ];
}
