import { z } from 'zod';

import { scope } from './event-scope.ts';

/** A settlement as its events show it: a full snapshot, so that the order of events does not matter. */
export const SettlementData = z.strictObject({
  object: z.literal('settlement'),
  ...scope,
  settlementId: z.string(),
  requestId: z.string().meta({ description: "The merchant's own id of the request" }),
  amount: z.number().positive().meta({ description: 'Birr, at most two decimals: what the bank account gets' }),
  fee: z.number(),
  feeTax: z.number(),
  totalDebit: z.number().positive(),
  currency: z.literal('ETB'),
  bankAccount: z
    .strictObject({ bankCode: z.string(), accountNumber: z.string(), accountName: z.string() })
    .meta({ description: 'The number shows its last four digits only' }),
  status: z.enum(['REQUESTED', 'APPROVED', 'PROCESSING', 'COMPLETED', 'FAILED', 'REJECTED', 'CANCELLED']),
  effectiveDate: z.iso.date(),
  earliestExpected: z.iso.date(),
  expectedBy: z.iso.date(),
  dateReasons: z
    .array(z.strictObject({ date: z.iso.date(), reason: z.string(), provisional: z.boolean() }))
    .meta({ description: 'The days on the way that do not count, and why' }),
  bankReference: z.string().optional().meta({ description: "The bank's trace id" }),
  failure: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  requestedAt: z.iso.datetime(),
  sentAt: z.iso.datetime().optional(),
  creditedAt: z.iso.datetime().optional(),
  creditedOn: z.iso.date().optional(),
  returnedAt: z.iso.datetime().optional().meta({ description: 'The bank had credited it and has sent it back' }),
  completedAt: z.iso.datetime().optional(),
});
export type SettlementData = z.output<typeof SettlementData>;

const requested: SettlementData = {
  object: 'settlement',
  environment: 'sandbox',
  merchantId: 'mrc_01JD8Q4T5V6W7X8Y9Z0A1B2C3D',
  version: 1,
  settlementId: 'stl_01JHMW8T5V6W7X8Y9Z0A1B2C3H',
  requestId: 'SETTLE-2025-01-17',
  amount: 48_250.75,
  fee: 0,
  feeTax: 0,
  totalDebit: 48_250.75,
  currency: 'ETB',
  bankAccount: { bankCode: 'CBE', accountNumber: '*********6789', accountName: 'Abyssinia Coffee PLC' },
  status: 'REQUESTED',
  effectiveDate: '2025-01-17',
  earliestExpected: '2025-01-20',
  expectedBy: '2025-01-21',
  dateReasons: [
    { date: '2025-01-18', reason: 'Saturday 18 January 2025', provisional: false },
    { date: '2025-01-19', reason: 'Timkat, Sunday 19 January 2025', provisional: false },
  ],
  requestedAt: '2025-01-17T06:30:00.000Z',
};
const { requestedAt, ...fixed } = requested;
const bankReference = 'FT25017QX9K2';
const atBank = { bankReference, requestedAt, sentAt: '2025-01-17T11:05:00.000Z' };
const answeredAt = '2025-01-20T06:10:00.000Z';
const refused = (code: string, message: string) => ({ failure: { code, message }, requestedAt });

/** Every event of a settlement: what it tells, and an example of it. */
export const SETTLEMENT_EVENTS = {
  'settlement.requested': {
    description: 'Money to the bank account was asked for: its amount, fee and tax are set aside.',
    data: SettlementData,
    example: requested,
  },
  'settlement.processing': {
    description: 'A settlement was sent to the bank.',
    data: SettlementData,
    example: { ...fixed, version: 3, status: 'PROCESSING', ...atBank },
  },
  'settlement.completed': {
    description: 'The bank has credited a settlement.',
    data: SettlementData,
    example: {
      ...fixed,
      version: 4,
      status: 'COMPLETED',
      ...atBank,
      creditedAt: '2025-01-20T05:45:00.000Z',
      creditedOn: '2025-01-20',
      completedAt: answeredAt,
    },
  },
  'settlement.failed': {
    description:
      'The bank did not credit a settlement, or has sent it back since (returnedAt): its money is available again.',
    data: SettlementData,
    example: {
      ...fixed,
      version: 4,
      status: 'FAILED',
      bankReference,
      ...refused('BANK_REFUSED', 'The account is closed.'),
      sentAt: atBank.sentAt,
      completedAt: answeredAt,
    },
  },
  'settlement.rejected': {
    description: 'An operator rejected a settlement: what was set aside is available again.',
    data: SettlementData,
    example: {
      ...fixed,
      version: 2,
      status: 'REJECTED',
      ...refused('REJECTED', 'The account is being looked at.'),
      completedAt: '2025-01-17T08:00:00.000Z',
    },
  },
  'settlement.canceled': {
    description: 'The merchant took a settlement back before it was decided.',
    data: SettlementData,
    example: { ...requested, version: 2, status: 'CANCELLED', completedAt: '2025-01-17T07:00:00.000Z' },
  },
  'settlement.updated': {
    description: 'A settlement was approved, or the calendar has changed and its expected days have moved.',
    data: SettlementData,
    example: {
      ...requested,
      version: 3,
      status: 'APPROVED',
      expectedBy: '2025-01-22',
      dateReasons: [
        ...requested.dateReasons,
        { date: '2025-01-21', reason: 'National mourning, Tuesday 21 January 2025', provisional: false },
      ],
    },
  },
} as const;
