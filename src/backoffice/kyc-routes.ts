import { Readable } from 'node:stream';

import { z } from 'zod';

import { auditContextOf } from '../access/audit.ts';
import { requirePermission } from '../access/permissions.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import { readKyc } from '../merchants/kyc/decide.ts';
import { readDocument } from '../merchants/kyc/documents.ts';
import { FILE_TYPES } from '../merchants/kyc/file-type.ts';
import type { DocumentStore } from '../merchants/kyc/store.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import * as kycSchema from './kyc-schema.ts';
import { decideKyc, type KycDecision } from './kyc.ts';
import { readMerchant } from './merchants.ts';
import { presentApplication, presentKyc } from './present.ts';
import { MerchantParams } from './schema.ts';

export type KycRouteDeps = { db: Knex; runInTransaction: RunInTransaction; clock: Clock; store: DocumentStore };

/** Applications to be verified: to look at, and to decide. */
export function kycRoutes(deps: KycRouteDeps): Route[] {
  return [lookingRoute(deps), documentRoute(deps), ...decisionRoutes(deps)];
}

function lookingRoute(deps: KycRouteDeps): Route {
  return readRoute({
    method: 'GET',
    path: '/api/ops/merchants/:merchantId/kyc',
    operationId: 'opsGetKyc',
    tag: 'Operators',
    summary: "A merchant's application with its documents and its history",
    auth: requirePermission('kyc.review'),
    params: MerchantParams,
    query: kycSchema.KycQuery,
    responses: { 200: kycSchema.Kyc },
    handle: async ({ params: { merchantId }, query: { environment } }) => {
      await readMerchant(deps.db, merchantId);
      const kyc = await readKyc(deps, { merchantId, environment }, deps.clock());
      return { message: `Verification is ${kyc.row.status}`, data: presentKyc(kyc) };
    },
  });
}

const FILE_ENDING: Record<string, string> = { 'application/pdf': 'pdf', 'image/png': 'png', 'image/jpeg': 'jpg' };

function documentRoute({ db, store }: KycRouteDeps): Route {
  return readRoute({
    method: 'GET',
    path: '/api/ops/merchants/:merchantId/kyc/documents/:documentId',
    operationId: 'opsGetKycDocument',
    tag: 'Operators',
    summary: 'A document as the merchant handed it in, to be saved under its id',
    auth: requirePermission('kyc.review'),
    params: kycSchema.DocumentParams,
    query: kycSchema.KycQuery,
    responses: { 200: z.string() },
    fileTypes: FILE_TYPES,
    handle: async ({ params, query: { environment } }) => {
      const { row, bytes } = await readDocument({ db, store }, { ...params, environment });
      const { id, contentType, sha256 } = row;
      const name = `${id}.${FILE_ENDING[contentType] ?? 'bin'}`;
      return { file: { name, contentType, bytes: bytes.length, sha256, open: async () => Readable.from([bytes]) } };
    },
  });
}

type Verb<Body extends z.ZodType> = {
  type: KycDecision['type'];
  operationId: string;
  summary: string;
  body: Body;
  decision: (body: z.output<Body>) => KycDecision;
};

function decisionRoutes(deps: KycRouteDeps): Route[] {
  const route = <Body extends z.ZodType<{ environment: 'sandbox' | 'live' }>>(verb: Verb<Body>): Route =>
    writeRoute({
      method: 'POST',
      path: `/api/ops/merchants/:merchantId/kyc/${verb.type}`,
      operationId: verb.operationId,
      tag: 'Operators',
      summary: verb.summary,
      auth: requirePermission(`kyc.${verb.type}`),
      params: MerchantParams,
      body: verb.body,
      responses: { 200: kycSchema.Application },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const scope = { ...input.params, environment: input.body.environment };
        const row = await decideKyc(auditContextOf(input, deps), scope, verb.decision(input.body));
        return { message: `Verification is ${row.status}`, data: presentApplication(row) };
      },
    });
  return [
    route({
      type: 'review',
      operationId: 'opsReviewKyc',
      summary: 'Take up an application: the merchant sees that somebody looks at it',
      body: kycSchema.KycReview,
      decision: ({ reason }) => ({ type: 'review', reason }),
    }),
    route({
      type: 'approve',
      operationId: 'opsApproveKyc',
      summary: 'The merchant is verified: live keys work once a sandbox payment has succeeded',
      body: kycSchema.KycApproval,
      decision: ({ submission, tier, reason }) => ({ type: 'approve', submission, tier, reason }),
    }),
    route({
      type: 'reject',
      operationId: 'opsRejectKyc',
      summary: 'The merchant is not verified, and told the reason; it may apply again',
      body: kycSchema.KycRejection,
      decision: ({ submission, reason }) => ({ type: 'reject', submission, reason }),
    }),
    route({
      type: 'request-info',
      operationId: 'opsRequestKycInfo',
      summary: 'The merchant is to send more; the reason tells it what',
      body: kycSchema.KycRejection,
      decision: ({ submission, reason }) => ({ type: 'request-info', submission, reason }),
    }),
  ];
}
