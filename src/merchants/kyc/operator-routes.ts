import { Readable } from 'node:stream';

import { z } from 'zod';

import type { AuditedChange } from '../../access/audit.ts';
import { withNames } from '../../access/names.ts';
import { operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import { InEnvironment, MerchantParams } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { Database } from '../../lib/db.ts';
import { scopeOf, type Environment } from '../../lib/scope.ts';
import type { RunInTransaction } from '../../outbox/record.ts';
import { readMerchant } from '../operations.ts';
import { decideKyc, lockDecided, readKyc, type KycCommand } from './application.ts';
import { readDocument } from './documents.ts';
import { presentApplication, presentForOperators, type ApplicationRow } from './queries.ts';
import * as schema from './schema.ts';
import type { DocumentStore } from './store.ts';

type Deps = { db: Database; runInTransaction: RunInTransaction; store: DocumentStore };

const FILE_EXTENSION = { 'application/pdf': 'pdf', 'image/png': 'png', 'image/jpeg': 'jpg' };

/** The verification of merchants: applications with their documents, decisions, and tiers. */
export function kycOperatorRoutes(deps: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/merchants/:merchantId/kyc', {
      operationId: 'opsGetKyc',
      cli: 'kyc get',
      summary: "Get a merchant's application with its documents and timeline",
      permission: 'kyc.review',
      params: MerchantParams,
      query: InEnvironment,
      responses: { 200: schema.OperatorKyc },
      handle: async ({ params: { merchantId }, query: { environment }, at }) => {
        await readMerchant(deps.db, merchantId);
        const kyc = await readKyc(deps, { merchantId, environment }, at);
        const shown = presentForOperators(kyc);
        const [[data], timeline] = await Promise.all([
          withNames(deps.db, [shown], schema.KYC_NAMES),
          withNames(deps.db, shown.timeline, ['by']),
        ]);
        return { message: `Verification is ${kyc.row.status}`, data: { ...data, timeline } };
      },
    }),
    operatorReadRoute('GET /api/ops/merchants/:merchantId/kyc/documents/:documentId', {
      operationId: 'opsGetKycDocument',
      cli: { name: 'kyc get-document', summary: 'Write a document to standard output' },
      summary: 'Download a document as the merchant uploaded it; its id is the file name',
      permission: 'kyc.review',
      params: schema.DocumentParams,
      query: schema.DocumentQuery,
      responses: { 200: z.string() },
      fileTypes: schema.FILE_TYPES,
      handle: async ({ params, query: { environment, inline } }) => {
        const { row, bytes } = await readDocument(deps, { ...params, environment });
        const { id, contentType, sha256 } = row;
        const name = `${id}.${FILE_EXTENSION[contentType]}`;
        const stored = { bytes: bytes.length, sha256 };
        const isFramed = inline !== undefined && contentType === 'application/pdf';
        return { file: { name, contentType, stored, isFramed, open: async () => Readable.from([bytes]) } };
      },
    }),
    ...decisionRoutes(),
    operatorRoute('PUT /api/ops/merchants/:merchantId/kyc/tier', {
      operationId: 'opsChangeTier',
      cli: 'kyc change-tier',
      summary: "Change a verified merchant's tier, which limits its live channels and amounts",
      action: 'kyc.change-tier',
      params: MerchantParams,
      body: schema.TierChange,
      responses: { 200: schema.OperatorApplication },
      errors: ['INVALID_STATE'],
      secondPerson: async (_, { body }) => body.environment === 'live',
      run: async ({ tx, ...context }, { params: { merchantId }, body }) => {
        await readMerchant(tx.trx, merchantId);
        const decision = { ...context, merchantId, environment: body.environment };
        const before = await lockDecided(tx, decision, context.at);
        const isSame = before.status === 'APPROVED' && before.tier === body.tier;
        const after = isSame ? before : await decideKyc(tx, decision, { type: 'change-tier', ...body });
        const message = `The merchant is in tier ${after.tier}`;
        const change = { before: { tier: before.tier }, after: { tier: after.tier } };
        const audit = isSame ? null : { ...auditOfKyc(after), ...change };
        return { message, data: presentApplication(after), audit };
      },
    }),
  ];
}

const DECISIONS = [
  {
    type: 'review',
    operationId: 'opsReviewKyc',
    summary: 'Start the review of an application; the merchant sees that it is under review',
    body: schema.KycReview,
  },
  {
    type: 'approve',
    operationId: 'opsApproveKyc',
    summary: 'Verify the merchant: live keys work once a sandbox payment has succeeded',
    body: schema.KycApproval,
  },
  {
    type: 'reject',
    operationId: 'opsRejectKyc',
    summary: 'Reject an application; the merchant sees the reason and may apply again',
    body: schema.KycRejection,
  },
  {
    type: 'request-info',
    operationId: 'opsRequestKycInfo',
    summary: 'Request more information from the merchant, who sees the reason',
    body: schema.KycRejection,
  },
] as const;

function decisionRoutes(): Route[] {
  return DECISIONS.map(({ type, ...declared }) => {
    const body: z.ZodType<Omit<KycCommand, 'type'> & { environment: Environment }> = declared.body;
    return operatorRoute(`POST /api/ops/merchants/:merchantId/kyc/${type}`, {
      ...declared,
      body,
      cli: `kyc ${type}`,
      action: `kyc.${type}`,
      params: MerchantParams,
      responses: { 200: schema.OperatorApplication },
      errors: ['INVALID_STATE'],
      run: async ({ tx, ...context }, { params: { merchantId }, body: { environment, ...command } }) => {
        const scope = { merchantId, environment };
        await readMerchant(tx.trx, merchantId);
        const before = await lockDecided(tx, scope, context.at);
        const row = await decideKyc(tx, { ...scope, ...context }, { type, ...command });
        const data = presentApplication(row);
        return { message: `Verification is ${row.status}`, data, audit: kycAudit(before, row) };
      },
    });
  });
}

/** A decision about an application in the audit log. */
export function kycAudit(before: ApplicationRow, after: ApplicationRow): AuditedChange {
  const audited = ({ status, tier, submissions }: ApplicationRow) => ({ status, tier, submission: submissions });
  return { ...auditOfKyc(after), before: audited(before), after: audited(after) };
}

function auditOfKyc(row: ApplicationRow) {
  return { resourceType: 'kyc', resourceId: row.merchantId, ...scopeOf(row) } as const;
}
