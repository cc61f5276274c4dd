import type { z } from 'zod';

import type { AuditContext } from '../../access/audit.ts';
import { actionLinks, operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import { InEnvironment, MerchantParams } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import { scopeOf, type Environment, type MerchantScope } from '../../lib/scope.ts';
import { readRequestedBy } from '../../merchants/requested-by.ts';
import { findBankAccount, rejectBankAccount, verifyBankAccount, type DecidedAccount } from './account.ts';
import * as schema from './schema.ts';

/** The decisions that each status allows. */
const LINKS = { PENDING: ['verify', 'reject'], VERIFIED: ['reject'], REJECTED: [] } as const;

/** The bank accounts that merchants have linked. */
export function bankAccountOperatorRoutes({ db, clock }: { db: Database; clock: Clock }): Route[] {
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
        const row = found(await findBankAccount(db, { ...params, ...query }), 'bank account');
        const links = actionLinks(`merchants/${row.merchantId}/bank-account`, ...LINKS[row.status]);
        const data = { ...schema.presentForOperators(row), ...(await readRequestedBy(db, row)), links };
        return { message: 'Bank account retrieved', data };
      },
    }),
    decisionRoute(clock, {
      type: 'verify',
      operationId: 'opsVerifyBankAccount',
      cli: 'bank-accounts verify',
      summary: "Verify that a bank account is the merchant's, so that settlements can go to it",
      body: schema.AccountVerification,
      run: (context, scope, body) => verifyBankAccount(context.tx, scope, { ...context, ...body }),
    }),
    decisionRoute(clock, {
      type: 'reject',
      operationId: 'opsRejectBankAccount',
      cli: 'bank-accounts reject',
      summary: 'Reject a bank account, a verified one too: no settlement goes to it, and the merchant sees the reason',
      description: 'Settlements to it that were requested before can neither be approved nor sent.',
      body: schema.AccountRejection,
      run: (context, scope, body) => rejectBankAccount(context.tx, scope, { ...context, ...body }),
    }),
  ];
}

type Decision<Body extends z.ZodType<{ environment: Environment }>> = {
  type: 'verify' | 'reject';
  operationId: string;
  cli: Route['cli'];
  summary: string;
  description?: string;
  body: Body;
  run: (context: AuditContext, scope: MerchantScope, body: z.output<Body>) => Promise<DecidedAccount>;
};

function decisionRoute<Body extends z.ZodType<{ environment: Environment }>>(
  clock: Clock,
  { type, run, ...declared }: Decision<Body>,
): Route {
  return operatorRoute(`POST /api/ops/merchants/:merchantId/bank-account/${type}`, {
    ...declared,
    action: `bank-account.${type}`,
    clock,
    params: MerchantParams,
    responses: { 200: schema.OperatorBankAccount },
    errors: ['INVALID_STATE'],
    run: async (context, { params: { merchantId }, body }) => {
      const scope = { merchantId, environment: body.environment };
      const { account, changed, before } = await run(context, scope, body);
      const { id: resourceId, status, bankCode } = account;
      const change = { before: { status: before }, after: { status, bankCode } };
      const audit = { resourceType: 'bankAccount', resourceId, ...scopeOf(account), ...change } as const;
      const data = schema.presentForOperators(account);
      return { message: `Bank account is ${status}`, data, audit: changed ? audit : null };
    },
  });
}
