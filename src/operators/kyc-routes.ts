import { Readable } from 'node:stream';

import { z } from 'zod';

import { readRoute, writeRoute, type Route } from '../http/route.ts';
import { readDocument } from '../kyc/documents.ts';
import { FILE_TYPES } from '../kyc/file-type.ts';
import { readKyc } from '../kyc/queries.ts';
import type { DocumentStore } from '../kyc/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import type { RunChange } from '../lib/outbox.ts';
import { deedOf } from './audit.ts';
import * as kycSchema from './kyc-schema.ts';
import { decideKyc, type KycWord } from './kyc.ts';
import { readMerchant } from './merchants.ts';
import { permit } from './permits.ts';
import { presentApplication, presentKyc } from './present.ts';
import { MerchantParams } from './schema.ts';

export type KycRouteDeps = { db: Knex; runChange: RunChange; clock: Clock; store: DocumentStore };

/** Applications to be verified: to look at, and to decide. */
export function kycRoutes(deps: KycRouteDeps): Route[] {
  return [lookingRoute(deps), documentRoute(deps), ...decidingRoutes(deps)];
}

function lookingRoute(deps: KycRouteDeps): Route {
  return readRoute({
    method: 'GET',
    path: '/api/ops/merchants/:merchantId/kyc',
    operationId: 'opsGetKyc',
    tag: 'Operators',
    summary: "A merchant's application with its documents and its history",
    auth: permit('kyc.review'),
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
    auth: permit('kyc.review'),
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
  says: KycWord['says'];
  operationId: string;
  summary: string;
  body: Body;
  word: (body: z.output<Body>) => KycWord;
};

function decidingRoutes(deps: KycRouteDeps): Route[] {
  const say = <Body extends z.ZodType<{ environment: 'sandbox' | 'live' }>>(verb: Verb<Body>): Route =>
    writeRoute({
      method: 'POST',
      path: `/api/ops/merchants/:merchantId/kyc/${verb.says}`,
      operationId: verb.operationId,
      tag: 'Operators',
      summary: verb.summary,
      auth: permit(`kyc.${verb.says}`),
      params: MerchantParams,
      body: verb.body,
      responses: { 200: kycSchema.Application },
      refusals: ['INVALID_STATE'],
      handle: async (input) => {
        const owner = { ...input.params, environment: input.body.environment };
        const row = await decideKyc(deedOf(input, deps), owner, verb.word(input.body));
        return { message: `Verification is ${row.status}`, data: presentApplication(row) };
      },
    });
  return [
    say({
      says: 'review',
      operationId: 'opsReviewKyc',
      summary: 'Take up an application: the merchant sees that somebody looks at it',
      body: kycSchema.KycReview,
      word: ({ reason }) => ({ says: 'review', reason }),
    }),
    say({
      says: 'approve',
      operationId: 'opsApproveKyc',
      summary: 'The merchant is verified: live keys work once a sandbox payment has succeeded',
      body: kycSchema.KycApproval,
      word: ({ submission, tier, reason }) => ({ says: 'approve', submission, tier, reason }),
    }),
    say({
      says: 'reject',
      operationId: 'opsRejectKyc',
      summary: 'The merchant is not verified, and told the reason; it may apply again',
      body: kycSchema.KycRefusal,
      word: ({ submission, reason }) => ({ says: 'reject', submission, reason }),
    }),
    say({
      says: 'request-info',
      operationId: 'opsRequestKycInfo',
      summary: 'The merchant is to send more; the reason tells it what',
      body: kycSchema.KycRefusal,
      word: ({ submission, reason }) => ({ says: 'request-info', submission, reason }),
    }),
  ];
}
