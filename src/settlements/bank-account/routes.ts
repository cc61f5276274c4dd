import { actionLinks, operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import { InEnvironment, MerchantParams } from '../../access/operator-schema.ts';
import { actorOf, readRoute, writeRoute, type AuditedFields, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { AppError, found } from '../../lib/errors.ts';
import { scopeOf } from '../../lib/scope.ts';
import { readRequestedBy } from '../../merchants/operations.ts';
import * as accounts from './account.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock };

/** The bank account that a merchant's settlements go to. */
export function bankAccountRoutes({ db, clock }: Deps): Route[] {
  const shared = {
    tag: 'Settlements',
    auth: { by: 'key', scope: 'bank:write' },
    responses: { 200: schema.BankAccount },
  } as const;
  return [
    readRoute('GET /api/checkout/bank-account', {
      ...shared,
      auth: { ...shared.auth, permission: 'bank:read' },
      operationId: 'getBankAccount',
      summary: 'The bank account that settlements go to',
      errors: ['NOT_FOUND'],
      handle: async ({ caller }) => {
        const row = await accounts.findBankAccount(db, caller);
        if (row) return { message: 'Bank account retrieved', data: schema.presentBankAccount(row) };
        throw new AppError('NOT_FOUND', 'No bank account is linked. Link one with PUT /api/checkout/bank-account.');
      },
    }),
    writeRoute('PUT /api/checkout/bank-account', {
      ...shared,
      operationId: 'linkBankAccount',
      audit: 'bank-account.link',
      stepUp: 'live',
      summary: 'Link the bank account that settlements go to; it replaces the previous one',
      description:
        'The sandbox verifies it at once; in live an operator does, and the replacement of a verified account holds new ' +
        'settlements for 48 hours. Settlements requested before keep their account.',
      body: schema.NewBankAccount,
      handle: async ({ caller, tx, body }) => {
        const replaced = await accounts.findBankAccount(tx.trx, caller);
        const row = await accounts.linkBankAccount(tx, caller, { ...body, requestedBy: actorOf(caller), at: clock() });
        const audit = row.id === replaced?.id ? null : auditOf(row, replaced);
        return { message: `Bank account linked: it is ${row.status}`, data: schema.presentBankAccount(row), audit };
      },
    }),
  ];
}

/** The linked account and the one that it replaces, with masked numbers. */
function auditOf(row: accounts.BankAccountRow, replaced: accounts.BankAccountRow | undefined): AuditedFields {
  const fieldsOf = (account: accounts.BankAccountRow) => {
    const { bankCode, accountNumber, accountName } = schema.presentBankAccount(account);
    return { bankCode, accountNumber, accountName };
  };
  return { resourceId: row.id, ...(replaced && { before: fieldsOf(replaced) }), after: fieldsOf(row) };
}

/** The decisions that each status allows. */
const LINKS = { PENDING: ['verify', 'reject'], VERIFIED: ['reject'], REJECTED: [] } as const;

export function bankAccountOperatorRoutes({ db }: Pick<Deps, 'db'>): Route[] {
  const decision = {
    params: MerchantParams,
    responses: { 200: schema.OperatorBankAccount },
    errors: ['INVALID_STATE' as const],
  };
  return [
    operatorReadRoute('GET /api/ops/merchants/:merchantId/bank-account', {
      operationId: 'opsGetBankAccount',
      cli: 'bank-accounts get',
      summary: "Get the merchant's linked bank account with its unmasked number",
      permission: 'bank-account.verify',
      params: MerchantParams,
      query: InEnvironment,
      responses: { 200: schema.OperatorBankAccountDetail },
      handle: async ({ params, query }) => {
        const row = found(await accounts.findBankAccount(db, { ...params, ...query }), 'bank account');
        const links = actionLinks(`merchants/${row.merchantId}/bank-account`, ...LINKS[row.status]);
        const data = { ...schema.presentForOperators(row), ...(await readRequestedBy(db, row)), links };
        return { message: 'Bank account retrieved', data };
      },
    }),
    operatorRoute('POST /api/ops/merchants/:merchantId/bank-account/verify', {
      ...decision,
      operationId: 'opsVerifyBankAccount',
      cli: 'bank-accounts verify',
      summary: "Verify that a bank account is the merchant's, so that settlements can go to it",
      action: 'bank-account.verify',
      body: schema.AccountVerification,
      run: async (context, { params, body }) =>
        decided(await accounts.verifyBankAccount(context.tx, { ...params, ...body }, { ...context, ...body })),
    }),
    operatorRoute('POST /api/ops/merchants/:merchantId/bank-account/reject', {
      ...decision,
      operationId: 'opsRejectBankAccount',
      cli: 'bank-accounts reject',
      summary: 'Reject a bank account, a verified one too: no settlement goes to it, and the merchant sees the reason',
      description: 'Settlements to it that were requested before can neither be approved nor sent.',
      action: 'bank-account.reject',
      body: schema.AccountRejection,
      run: async (context, { params, body }) =>
        decided(await accounts.rejectBankAccount(context.tx, { ...params, ...body }, { ...context, ...body })),
    }),
  ];
}

function decided({ account, changed, before }: accounts.DecidedAccount) {
  const { id: resourceId, status, bankCode } = account;
  const change = { before: { status: before }, after: { status, bankCode } };
  const audit = { resourceType: 'bankAccount', resourceId, ...scopeOf(account), ...change } as const;
  const data = schema.presentForOperators(account);
  return { message: `Bank account is ${status}`, data, audit: changed ? audit : null };
}
