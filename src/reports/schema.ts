import { z } from 'zod';

import { instant } from '../lib/fields.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { PERIODS } from './period.ts';
import { SOURCES } from './sources/sources.ts';
import { REPORT_FORMATS, REPORT_KINDS, REPORT_STATUSES } from './states.ts';

const STATUS_CHARACTERS_MAX = 200;

const period = z.enum(PERIODS).meta({ description: 'Weeks begin on Monday; days are those of Addis Ababa' });
const day = z.string().meta({ format: 'date' });

/** A report to ask for; `status` becomes the list of wanted statuses of that kind, null for all. */
export const NewReport = z
  .strictObject({
    kind: z.enum(REPORT_KINDS),
    period,
    date: dateParam.optional().meta({ description: 'Any day of the period; the last full one unless given' }),
    startDate: dateParam.optional().meta({ description: 'For period custom: at most 366 days' }),
    endDate: dateParam.optional(),
    status: z.string().max(STATUS_CHARACTERS_MAX).optional().meta({
      description: 'One of the statuses of what is listed, a comma list of them, or ALL; not for kind balance',
      example: 'SUCCESS',
    }),
    channel: z.enum(CHANNELS).optional(),
    format: z.enum(REPORT_FORMATS).default('CSV'),
  })
  .transform(({ status, channel, ...wanted }, context) => {
    const { statuses, takesChannel } = SOURCES[wanted.kind];
    if (!takesChannel && channel !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['channel'],
        message: `is nothing that a report of kind ${wanted.kind} can be narrowed by`,
      });
    }
    if (wanted.format === 'PDF' && wanted.kind !== 'settlements') {
      context.addIssue({
        code: 'custom',
        path: ['format'],
        message: 'PDF is the statement of settlements: take CSV, XLSX or JSON',
      });
    }
    if (status === undefined) return { ...wanted, statuses: null, channel: channel ?? null };
    if (statuses === null) {
      context.addIssue({
        code: 'custom',
        path: ['status'],
        message: `is nothing that a report of kind ${wanted.kind} can be narrowed by`,
      });
      return z.NEVER;
    }
    const parsed = statusParam(statuses).safeParse(status);
    if (parsed.success) return { ...wanted, statuses: parsed.data, channel: channel ?? null };
    for (const { message } of parsed.error.issues) context.addIssue({ code: 'custom', path: ['status'], message });
    return z.NEVER;
  });

export const ReportParams = z.strictObject({ reportId: z.string().max(64) });

export const ReportListQuery = z.strictObject({ status: statusParam(REPORT_STATUSES).optional(), ...pageQuery });

const TOTALS =
  'ETB by column: what its cells add up to. Of payments receivedAmount, fee, feeTax and netAmount, of money out paidAmount, fee, feeTax and totalDebit are what the ledger has booked: nothing for what was not paid, failed or came back. amount is what was asked for, whatever became of it; reserved is set aside for money out that is still open. Of a balance it is what it opened and closed with';

/** A report's public fields. */
export const Report = z
  .object({
    reportId: z.string(),
    kind: z.enum(REPORT_KINDS),
    format: z.enum(REPORT_FORMATS),
    period: z.enum(PERIODS),
    startDate: day,
    endDate: day,
    timeZone: z.string(),
    filters: z.object({ status: z.string(), channel: z.string() }),
    status: z.enum(REPORT_STATUSES),
    rowsDone: z.int(),
    rowsTotal: z.int(),
    totals: z.record(z.string(), z.number()).nullable().meta({ description: TOTALS }),
    snapshotAt: instant.nullable().meta({ description: 'All rows are as they were at this instant' }),
    fileName: z.string().nullable(),
    fileSize: z.int().nullable().meta({ description: 'Bytes' }),
    sha256: z.string().nullable().meta({ description: "Of the file's bytes, in hex" }),
    fileUrl: z.string().nullable().meta({ description: 'Asks for the same key; while the report is READY' }),
    expiresAt: instant.nullable().meta({ description: 'The file is removed then' }),
    failure: z.object({ code: z.string(), message: z.string() }).optional(),
    environment: z.enum(['sandbox', 'live']),
    requestedAt: instant,
    completedAt: instant.optional(),
  })
  .meta({ id: 'Report' });

export const SummaryQuery = z.strictObject({
  period: period.optional().meta({ description: 'day unless given' }),
  date: dateParam.optional().meta({ description: 'Any day of the period; the last full one unless given' }),
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
});

/** Of payments. What the ledger has booked is of those that were paid for; all others have 0 there. */
const PaymentSums = z.object({
  count: z.int(),
  requested: z.number().meta({ description: 'What was asked for, whatever became of it' }),
  gross: z.number().meta({
    description:
      'What was received, as booked in the ledger: of SUCCESS, with a second payment that an operator gave to the merchant; 0 of all others',
  }),
  fee: z.number().meta({ description: 'What was charged, as booked' }),
  feeTax: z.number().meta({ description: 'The tax on it, as booked' }),
  net: z.number().meta({ description: 'What the balance got: gross - fee - feeTax' }),
});

/** Of withdrawals and settlements. */
const MoneyOutSums = z.object({
  count: z.int(),
  requested: z.number().meta({ description: 'What was asked for, whatever became of it' }),
  gross: z.number().meta({
    description:
      'What was paid out, as booked in the ledger: of SUCCESS and COMPLETED, paidAmount where another amount was paid than asked for; 0 of all others: what failed, was rejected or cancelled was never charged, and what is REVERSED, or FAILED after the bank returned it, came back with its fee',
  }),
  fee: z.number().meta({ description: 'What was charged for it, as booked' }),
  feeTax: z.number().meta({ description: 'The tax on it, as booked' }),
  net: z.number().meta({
    description:
      'What the balance gave for it: gross + fee + feeTax; where more was paid than asked for, the excess is not taken from the balance',
  }),
  reserved: z.number().meta({
    description:
      'What is set aside for it, fee and tax included: of PENDING, REQUESTED, APPROVED and PROCESSING; 0 of all others',
  }),
});

function summarised<Shape extends z.ZodRawShape>(sums: z.ZodObject<Shape>) {
  return z.object({
    total: sums,
    groups: z.array(z.object({ status: z.string(), channel: z.string().nullable(), ...sums.shape })),
  });
}

/** `GET /api/checkout/reports/summary`. */
export const Summary = z
  .object({
    period: z.enum(PERIODS),
    startDate: day,
    endDate: day,
    startDateEthiopian: z.string(),
    endDateEthiopian: z.string(),
    timeZone: z.string(),
    currency: z.literal('ETB'),
    environment: z.enum(['sandbox', 'live']),
    asOf: instant,
    payments: summarised(PaymentSums),
    withdrawals: summarised(MoneyOutSums),
    settlements: summarised(MoneyOutSums),
  })
  .meta({ id: 'ReportSummary' });
