import { z } from 'zod';

import { auditContextOf } from '../access/audit.ts';
import { requirePermission } from '../access/permissions.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import { UploadedFile } from '../http/upload.ts';
import type { Clock } from '../lib/clock.ts';
import { startOfAddisDay } from '../lib/dates.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { toSantim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { lateCreditIssue } from '../settlements/late-credit.ts';
import * as decisionSchema from './decision-schema.ts';
import { presentBankAccount, presentSettlement } from './present.ts';
import * as schema from './schema.ts';
import {
  decideBankAccount,
  decideSettlement,
  readBankFile,
  type BankAccountDecision,
  type SettlementCommand,
} from './settlements.ts';

export type SettlementRouteDeps = { runInTransaction: RunInTransaction; clock: Clock };

const FILE_BYTES_MAX = 1024 * 1024;

/** What is said of settlements on their way to the bank, and of the bank accounts they go to. */
export function settlementRoutes(deps: SettlementRouteDeps): Route[] {
  return [...settlementCommands(deps), bankFileRoute(deps), ...accountDecisions(deps)];
}

type SettlementVerb<Body extends z.ZodType> = {
  type: SettlementCommand['type'];
  operationId: string;
  summary: string;
  description?: string;
  body: Body;
  decision: (body: z.output<Body>) => SettlementCommand;
};

/** Besides INVALID_STATE. */
const REFUSALS: Partial<Record<SettlementCommand['type'], ErrorCode[]>> = {
  credited: ['DUPLICATE_REFERENCE'],
  returned: ['DUPLICATE_REFERENCE'],
  'book-credit': ['DUPLICATE_REFERENCE', 'INSUFFICIENT_BALANCE'],
};

function commandRoutes(deps: SettlementRouteDeps) {
  return <Body extends z.ZodType>({ type, body, decision, ...about }: SettlementVerb<Body>): Route =>
    writeRoute({
      method: 'POST',
      path: `/api/ops/settlements/:settlementId/${type}`,
      ...about,
      tag: 'Operators',
      auth: requirePermission(`settlement.${type}`),
      params: decisionSchema.SettlementParams,
      body,
      responses: { 200: decisionSchema.Settlement, ...(type === 'credited' && { 202: decisionSchema.Settlement }) },
      errors: ['INVALID_STATE', ...(REFUSALS[type] ?? [])],
      handle: async (input) => {
        const command = decision(input.body);
        const row = await decideSettlement(auditContextOf(input, deps), input.params.settlementId, command);
        const data = presentSettlement(row);
        const issue = command.type === 'credited' ? lateCreditIssue(row, command.bankReference) : null;
        if (issue !== null) return { status: 202, message: issue, data };
        return { message: `Settlement is ${row.status}`, data };
      },
    });
}

function settlementCommands(deps: SettlementRouteDeps): Route[] {
  const route = commandRoutes(deps);
  return [
    route({
      type: 'approve',
      operationId: 'opsApproveSettlement',
      summary: 'Let a settlement be sent; who asked for it may not',
      body: schema.OptionalReason,
      decision: (body) => ({ type: 'approve', ...body }),
    }),
    route({
      type: 'reject',
      operationId: 'opsRejectSettlement',
      summary: "Say no to a settlement: its money is the merchant's again, who is told the reason",
      body: schema.Reason,
      decision: (body) => ({ type: 'reject', ...body }),
    }),
    route({
      type: 'sent',
      operationId: 'opsSettlementSent',
      summary: 'Take a settlement to the bank: who is answered 200 orders the transfer, and nobody else does',
      body: decisionSchema.SettlementSent,
      decision: (body) => ({ type: 'sent', ...body }),
    }),
    route({
      type: 'credited',
      operationId: 'opsSettlementCredited',
      summary: 'The bank has credited it, under its trace id: the settlement is complete, the money has left',
      description:
        'One that had FAILED stays so: 202, nothing is booked, and it waits in the queue (SETTLEMENT_CREDITED_LATE). A trace id is booked once, whatever it is booked as.',
      body: decisionSchema.SettlementCredited,
      decision: ({ creditedOn, amount, ...body }) => ({
        type: 'credited',
        ...body,
        creditedAt: startOfAddisDay(creditedOn),
        ...(amount !== undefined && { amountSantim: toSantim(amount) }),
      }),
    }),
    route({
      type: 'failed',
      operationId: 'opsSettlementFailed',
      summary: "The bank did not credit it: its money is the merchant's again",
      body: decisionSchema.SettlementFailed,
      decision: (body) => ({ type: 'failed', ...body }),
    }),
    route({
      type: 'returned',
      operationId: 'opsSettlementReturned',
      summary: "The bank has sent back what it had credited: the money, with its fee, is the merchant's again",
      description: 'The settlement is FAILED with returnedAt. bankReference is that of the way back.',
      body: decisionSchema.SettlementReturned,
      decision: (body) => ({ type: 'returned', ...body }),
    }),
    route({
      type: 'book-credit',
      operationId: 'opsBookLateCredit',
      summary: 'The bank did credit a settlement that had failed: complete it, and take its money again',
      body: schema.Reason,
      decision: (body) => ({ type: 'book-credit', ...body }),
    }),
    route({
      type: 'dismiss-credit',
      operationId: 'opsDismissLateCredit',
      summary: 'The bank did not credit a settlement that had failed, or has taken the money back: it stays FAILED',
      body: schema.Reason,
      decision: (body) => ({ type: 'dismiss-credit', ...body }),
    }),
  ];
}

function bankFileRoute(deps: SettlementRouteDeps): Route {
  return readRoute({
    method: 'POST',
    path: '/api/ops/settlements/bank-file',
    operationId: 'opsImportBankFile',
    tag: 'Operators',
    summary: "Book the bank's answers of a CSV file: settlementId,result,bankReference,date,reason",
    description:
      "result is credited (with bankReference and date; a column amount, if there is one, must be the settlement's), failed (with reason), or returned: credited and sent back since (with bankReference of the way back, and reason). Each line is booked by itself: what is wrong with one holds up no other. The same file again changes nothing.",
    auth: requirePermission('settlement.credited'),
    body: UploadedFile,
    upload: { types: ['text/csv'], bytesMax: FILE_BYTES_MAX },
    responses: { 200: decisionSchema.BankFileReport },
    handle: async ({ caller, requestId, body }) => {
      const { operatorId } = caller;
      const report = await readBankFile(deps, { text: body.bytes.toString('utf8'), operatorId, requestId });
      const { applied, already, wrong } = report;
      const message = `${applied.length} booked, ${already.length} were so before, ${wrong.length} are wrong`;
      return { message, data: report };
    },
  });
}

type AccountVerb<Body extends z.ZodType> = {
  type: BankAccountDecision['type'];
  operationId: string;
  summary: string;
  description?: string;
  body: Body;
  decision: (body: z.output<Body>) => BankAccountDecision & { environment: Environment };
};

function accountDecisions(deps: SettlementRouteDeps): Route[] {
  const route = <Body extends z.ZodType>({ type, body, decision, ...about }: AccountVerb<Body>): Route =>
    writeRoute({
      method: 'POST',
      path: `/api/ops/merchants/:merchantId/bank-account/${type}`,
      ...about,
      tag: 'Operators',
      auth: requirePermission(`bank-account.${type}`),
      params: schema.MerchantParams,
      body,
      responses: { 200: decisionSchema.BankAccount },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const { environment, ...verdict } = decision(input.body);
        const row = await decideBankAccount(auditContextOf(input, deps), { ...input.params, environment }, verdict);
        return { message: `Bank account is ${row.status}`, data: presentBankAccount(row) };
      },
    });
  return [
    route({
      type: 'verify',
      operationId: 'opsVerifyBankAccount',
      summary: "The account is the merchant's: settlements go to it",
      body: decisionSchema.AccountVerification,
      decision: (body) => ({ type: 'verify', ...body }),
    }),
    route({
      type: 'reject',
      operationId: 'opsRejectBankAccount',
      summary: 'The account is not accepted, or no more: no settlement goes to it, and the merchant is told the reason',
      description: 'Settlements to it that were asked for before are neither approved nor sent.',
      body: decisionSchema.AccountRejection,
      decision: (body) => ({ type: 'reject', ...body }),
    }),
  ];
}
