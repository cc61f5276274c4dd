import { z } from 'zod';

import { readRoute, writeRoute, type Route } from '../http/route.ts';
import { UploadedFile } from '../http/upload.ts';
import type { Clock } from '../lib/clock.ts';
import { startOfAddisDay } from '../lib/dates.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { toSantim } from '../lib/money.ts';
import type { RunChange } from '../lib/outbox.ts';
import type { Environment } from '../lib/owner.ts';
import { lateCreditIssue } from '../settlements/late-credit.ts';
import { deedOf } from './audit.ts';
import * as decisionSchema from './decision-schema.ts';
import { permit } from './permits.ts';
import { presentBankAccount, presentSettlement } from './present.ts';
import * as schema from './schema.ts';
import {
  decideBankAccount,
  decideSettlement,
  readBankFile,
  type AccountWord,
  type SettlementWord,
} from './settlements.ts';

export type SettlementRouteDeps = { runChange: RunChange; clock: Clock };

const FILE_BYTES_MAX = 1024 * 1024;

/** What is said of settlements on their way to the bank, and of the bank accounts they go to. */
export function settlementRoutes(deps: SettlementRouteDeps): Route[] {
  return [...settlementWords(deps), bankFileRoute(deps), ...accountWords(deps)];
}

type SettlementVerb<Body extends z.ZodType> = {
  says: SettlementWord['says'];
  operationId: string;
  summary: string;
  description?: string;
  body: Body;
  word: (body: z.output<Body>) => SettlementWord;
};

/** Besides INVALID_STATE. */
const REFUSALS: Partial<Record<SettlementWord['says'], ErrorCode[]>> = {
  credited: ['DUPLICATE_REFERENCE'],
  returned: ['DUPLICATE_REFERENCE'],
  'book-credit': ['DUPLICATE_REFERENCE', 'INSUFFICIENT_BALANCE'],
};

function sayer(deps: SettlementRouteDeps) {
  return <Body extends z.ZodType>({ says, body, word, ...about }: SettlementVerb<Body>): Route =>
    writeRoute({
      method: 'POST',
      path: `/api/ops/settlements/:settlementId/${says}`,
      ...about,
      tag: 'Operators',
      auth: permit(`settlement.${says}`),
      params: decisionSchema.SettlementParams,
      body,
      responses: { 200: decisionSchema.Settlement, ...(says === 'credited' && { 202: decisionSchema.Settlement }) },
      refusals: ['INVALID_STATE', ...(REFUSALS[says] ?? [])],
      handle: async (input) => {
        const said = word(input.body);
        const row = await decideSettlement(deedOf(input, deps), input.params.settlementId, said);
        const data = presentSettlement(row);
        const issue = said.says === 'credited' ? lateCreditIssue(row, said.bankReference) : null;
        if (issue !== null) return { status: 202, message: issue, data };
        return { message: `Settlement is ${row.status}`, data };
      },
    });
}

function settlementWords(deps: SettlementRouteDeps): Route[] {
  const say = sayer(deps);
  return [
    say({
      says: 'approve',
      operationId: 'opsApproveSettlement',
      summary: 'Let a settlement be sent; who asked for it may not',
      body: schema.MayGiveReason,
      word: (body) => ({ says: 'approve', ...body }),
    }),
    say({
      says: 'reject',
      operationId: 'opsRejectSettlement',
      summary: "Say no to a settlement: its money is the merchant's again, who is told the reason",
      body: schema.Reason,
      word: (body) => ({ says: 'reject', ...body }),
    }),
    say({
      says: 'sent',
      operationId: 'opsSettlementSent',
      summary: 'Take a settlement to the bank: who is answered 200 orders the transfer, and nobody else does',
      body: decisionSchema.SettlementSent,
      word: (body) => ({ says: 'sent', ...body }),
    }),
    say({
      says: 'credited',
      operationId: 'opsSettlementCredited',
      summary: 'The bank has credited it, under its trace id: the settlement is complete, the money has left',
      description:
        'One that had FAILED stays so: 202, nothing is booked, and it waits in the queue (SETTLEMENT_LATE_CREDIT). A trace id is booked once, whatever it is booked as.',
      body: decisionSchema.SettlementCredited,
      word: ({ creditedOn, amount, ...body }) => ({
        says: 'credited',
        ...body,
        creditedAt: startOfAddisDay(creditedOn),
        ...(amount !== undefined && { amountSantim: toSantim(amount) }),
      }),
    }),
    say({
      says: 'failed',
      operationId: 'opsSettlementFailed',
      summary: "The bank did not credit it: its money is the merchant's again",
      body: decisionSchema.SettlementFailed,
      word: (body) => ({ says: 'failed', ...body }),
    }),
    say({
      says: 'returned',
      operationId: 'opsSettlementReturned',
      summary: "The bank has sent back what it had credited: the money, with its fee, is the merchant's again",
      description: 'The settlement is FAILED with returnedAt. bankReference is that of the way back.',
      body: decisionSchema.SettlementReturned,
      word: (body) => ({ says: 'returned', ...body }),
    }),
    say({
      says: 'book-credit',
      operationId: 'opsBookLateCredit',
      summary: 'The bank did credit a settlement that had failed: complete it, and take its money again',
      body: schema.Reason,
      word: (body) => ({ says: 'book-credit', ...body }),
    }),
    say({
      says: 'dismiss-credit',
      operationId: 'opsDismissLateCredit',
      summary: 'The bank did not credit a settlement that had failed, or has taken the money back: it stays FAILED',
      body: schema.Reason,
      word: (body) => ({ says: 'dismiss-credit', ...body }),
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
    auth: permit('settlement.credited'),
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
  says: AccountWord['says'];
  operationId: string;
  summary: string;
  description?: string;
  body: Body;
  word: (body: z.output<Body>) => AccountWord & { environment: Environment };
};

function accountWords(deps: SettlementRouteDeps): Route[] {
  const say = <Body extends z.ZodType>({ says, body, word, ...about }: AccountVerb<Body>): Route =>
    writeRoute({
      method: 'POST',
      path: `/api/ops/merchants/:merchantId/bank-account/${says}`,
      ...about,
      tag: 'Operators',
      auth: permit(`bank-account.${says}`),
      params: schema.MerchantParams,
      body,
      responses: { 200: decisionSchema.BankAccount },
      refusals: ['INVALID_STATE'],
      handle: async (input) => {
        const { environment, ...said } = word(input.body);
        const row = await decideBankAccount(deedOf(input, deps), { ...input.params, environment }, said);
        return { message: `Bank account is ${row.status}`, data: presentBankAccount(row) };
      },
    });
  return [
    say({
      says: 'verify',
      operationId: 'opsVerifyBankAccount',
      summary: "The account is the merchant's: settlements go to it",
      body: decisionSchema.AccountVerification,
      word: (body) => ({ says: 'verify', ...body }),
    }),
    say({
      says: 'reject',
      operationId: 'opsRejectBankAccount',
      summary: 'The account is not accepted, or no more: no settlement goes to it, and the merchant is told the reason',
      description: 'Settlements to it that were asked for before are neither approved nor sent.',
      body: decisionSchema.AccountRejection,
      word: (body) => ({ says: 'reject', ...body }),
    }),
  ];
}
