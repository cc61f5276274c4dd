import { z } from 'zod';

import { instant } from '../lib/fields.ts';
import { ruleOf, type IssueCode } from '../lib/issues.ts';
import { toBirr } from '../lib/money.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { TransactionNarrowing } from '../payments/transaction-schema.ts';
import { INTERVALS, PERIODS, type Interval } from './period.ts';
import type { ReportRow } from './queries.ts';
import { ZONE } from './sources/columns.ts';
import { SOURCES } from './sources/sources.ts';
import { REPORT_FORMATS, REPORT_KINDS, REPORT_STATUSES } from './states.ts';

const STATUS_CHARACTERS_MAX = 200;

const period = z.enum(PERIODS).describe('Weeks start on Monday; days are days in Addis Ababa');
const days = {
  date: dateParam.optional().describe('Any day of the period; without it, the last complete period is used'),
  startDate: dateParam.optional().describe('For period custom: at most 366 days'),
  endDate: dateParam.optional(),
};
const day = z.string().meta({ format: 'date' });

export const FORMAT_DESCRIPTION = 'PDF is a statement of each settlement, otherwise a table of the main columns';
export const interval = z
  .enum(Object.keys(INTERVALS) as [Interval, ...Interval[]])
  .describe('Weeks start on Monday; Pagumen is a part of Nehase');

/** A requested report. `status` becomes the list of statuses, null for all. */
export const NewReport = z
  .strictObject({
    kind: z.enum(REPORT_KINDS),
    period,
    ...days,
    status: z.string().max(STATUS_CHARACTERS_MAX).optional().meta({
      description: 'A status of the listed payments, refunds, withdrawals or settlements, a comma list, or ALL',
      example: 'SUCCESS',
    }),
    channel: z.enum(CHANNELS).optional(),
    ...TransactionNarrowing.shape,
    format: z.enum(REPORT_FORMATS).default('CSV').describe(FORMAT_DESCRIPTION),
  })
  .transform(({ status, channel = null, kind, period, date, startDate, endDate, format, ...narrower }, context) => {
    const narrowing = Object.entries(narrower).filter(([, value]) => value !== undefined && value !== null);
    const { transactionThrough, minAmount, maxAmount } = narrower;
    const { statuses: known, takesChannel } = SOURCES[kind];
    const statuses = statusParam(known ?? [])
      .optional()
      .safeParse(status);
    const reject = (
      field: string,
      message = `is not a filter of reports of kind ${kind}`,
      code: IssueCode = 'not_allowed',
    ): void => context.addIssue({ code: 'custom', path: [field], message, params: ruleOf(code) });
    if (!takesChannel && channel !== null) reject('channel');
    if (kind !== 'payments') for (const [field] of narrowing) reject(field);
    if (channel !== null && transactionThrough) reject('channel', 'must not be given beside transactionThrough');
    if ((minAmount ?? 0) > (maxAmount ?? Infinity)) {
      reject('minAmount', 'must not be more than maxAmount', 'min_above_max');
    }
    if (known === null && status !== undefined) reject('status');
    else if (statuses.error) reject('status', statuses.error.issues[0]?.message, 'wrong_format');
    const requested = { kind, period, date, startDate, endDate, format, channel, statuses: statuses.data ?? null };
    return {
      ...requested,
      narrowing: narrowing.length === 0 ? null : (Object.fromEntries(narrowing) as typeof narrower),
    };
  });

export const ReportParams = z.strictObject({ reportId: z.string().max(64) });

export const ReportListQuery = z.strictObject({ status: statusParam(REPORT_STATUSES).optional(), ...pageQuery });

const TOTALS =
  'ETB by column: the sum of its cells. receivedAmount, fee, feeTax and netAmount of payments, and paidAmount, fee, feeTax and totalDebit of withdrawals and settlements, as of refunds with feeReturned and feeTaxReturned, are as posted to the ledger: 0 for those that were not paid, failed or were returned. refundedAmount, feeReturned and feeTaxReturned of payments are of their refunds, whenever they were made, and netAfterRefunds is what payments and refunds together have credited to the balance. amount is the requested amount, whatever the status; reserved is reserved for pending refunds, withdrawals and settlements, and for pending refunds of payments. A balance has its opening and closing balance';

const state = {
  reportId: z.string(),
  kind: z.enum(REPORT_KINDS),
  format: z.enum(REPORT_FORMATS),
  period: z.enum(PERIODS),
  startDate: day,
  endDate: day,
  timeZone: z.string().describe('Of the days and local times'),
  filters: z
    .object({ status: z.string(), channel: z.string() })
    .extend(TransactionNarrowing.shape)
    .extend({ transactionThrough: z.string().optional() }),
  rowsDone: z.int(),
  rowsTotal: z.int(),
  environment: z.enum(['sandbox', 'live']),
  requestedAt: instant,
};
const file = {
  totals: z.record(z.string(), z.number()).describe(TOTALS),
  snapshotAt: instant.describe('All rows are as of this instant'),
  fileName: z.string(),
  fileSize: z.int().describe('Bytes'),
  sha256: z.string().describe("Of the file's bytes, in hex"),
  fileUrl: z.string().describe('Requires an API key with reports:read'),
  expiresAt: instant.describe('When the file is removed'),
};

const ofFile = Object.entries(file).map(([name, field]) => [name, field.nullable()] as const);

/** A report's public fields. Those of its file are null until it is READY. */
export const Report = z
  .object({
    ...state,
    ...Object.fromEntries(ofFile),
    status: z.enum(REPORT_STATUSES),
    failure: z.object({ code: z.string(), message: z.string() }).optional(),
    completedAt: instant.optional(),
  })
  .meta({ id: 'Report' });

export const ListedReport = Report.extend({
  requestedBy: z.string().describe('The key (key_…) or the person (usr_…); of a scheduled report who has scheduled it'),
  requestedByName: z
    .string()
    .nullable()
    .describe('The name that belongs to the id, but to a key no name of a person; null: there is none'),
}).meta({ id: 'ListedReport' });

export const readyReport = { ...state, ...file, status: z.literal('READY'), completedAt: instant };

/** The public report; unknown fields are removed by its schema. The link is removed with the file. */
export function presentReport(row: ReportRow, baseUrl: string) {
  const { statuses, channel, narrowing, totals, fileBytes } = row;
  const through = narrowing?.transactionThrough?.join(',');
  return {
    ...row,
    reportId: row.id,
    timeZone: ZONE,
    filters: {
      ...narrowing,
      transactionThrough: through,
      status: statuses?.join(',') ?? 'ALL',
      channel: channel ?? 'ALL',
    },
    rowsDone: row.processedRows,
    rowsTotal: row.totalRows,
    totals:
      totals && Object.fromEntries(Object.entries(totals).map(([name, santim]) => [name, toBirr(BigInt(santim))])),
    fileName: fileBytes === null ? null : fileNameOf(row),
    fileSize: fileBytes === null ? null : Number(fileBytes),
    fileUrl: row.status === 'READY' ? `${baseUrl}/api/checkout/reports/${row.id}/file` : null,
    failure: row.failure ?? undefined,
    completedAt: row.completedAt ?? undefined,
  };
}

/** "payments-sandbox-2026-11-01-to-2026-11-30-SUCCESS-<channel>-as-of-20261201T060000Z.csv" */
export function fileNameOf(report: ReportRow): string {
  const { kind, environment, startDate, endDate, statuses, channel, narrowing, snapshotAt, format } = report;
  const days = startDate === endDate ? startDate : `${startDate}-to-${endDate}`;
  const asOf = (snapshotAt ?? report.requestedAt).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const filters = [...(statuses ?? []), channel, narrowing && 'filtered'].filter((one) => one !== null);
  return `${[kind, environment, days, ...filters, 'as-of', asOf].join('-')}Z.${format.toLowerCase()}`;
}

export const SummaryQuery = z.strictObject({
  period: period.optional().describe('Default: day'),
  ...days,
});

const amount = (description: string) => z.number().meta({ description });
/** Amounts posted to the ledger are 0 for payments that were not paid. */
const SharedSums = z.object({
  count: z.int(),
  requested: amount('The requested amount, whatever the status'),
  gross: amount(
    'The amount received, as posted to the ledger: for SUCCESS, including a second payment that an operator credited to the merchant; otherwise 0',
  ),
  fee: amount('The fee charged, as posted to the ledger'),
  feeTax: amount('The tax on the fee, as posted to the ledger'),
  net: amount('The amount credited to the balance: gross - fee - feeTax'),
});

const PaymentSums = SharedSums.extend({
  refunded: amount('Paid back by refunds of these payments, whenever they were made'),
  feeReturned: amount('Of the fee, given back by these refunds'),
  feeTaxReturned: amount('The same of the tax on the fee'),
  netAfterRefunds: amount(
    'What payments and refunds together have credited to the balance: net - refunded + feeReturned + feeTaxReturned; where more was refunded than requested, the excess is not debited',
  ),
  reserved: amount('The amount reserved for pending refunds, less what they give back of fee and tax'),
});

const PayoutSums = SharedSums.extend({
  gross: amount(
    'The amount paid out, as posted to the ledger: for SUCCESS and COMPLETED, paidAmount where another amount was paid than requested; otherwise 0. A payout that failed, was rejected or was cancelled is not charged; one that is REVERSED, or FAILED after the bank returned it, is credited back with its fee',
  ),
  net: amount(
    'The amount debited from the balance: gross + fee + feeTax; where more was paid than requested, the excess is not debited',
  ),
  reserved: amount(
    'The amount reserved, fee and tax included: for PENDING, REQUESTED, APPROVED and PROCESSING; otherwise 0',
  ),
});

function grouped<Shape extends z.ZodRawShape>(sums: z.ZodObject<Shape>) {
  return z.object({
    total: sums,
    groups: z.array(z.object({ status: z.string(), channel: z.string().nullable(), ...sums.shape })),
  });
}

const OF_REFUNDS = { count: true, requested: true, feeReturned: true, feeTaxReturned: true, reserved: true } as const;
/** By the day on which a refund was requested; `refunded` of payments is by the day of the payment. */
const RefundSums = PaymentSums.pick(OF_REFUNDS).extend({
  gross: amount('The amount paid back, as posted to the ledger: for SUCCESS, another one than requested, too'),
  net: amount('The amount debited from the balance: gross - feeReturned - feeTaxReturned, without an excess'),
});

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
    payments: grouped(PaymentSums),
    refunds: grouped(RefundSums),
    withdrawals: grouped(PayoutSums),
    settlements: grouped(PayoutSums),
  })
  .meta({ id: 'ReportSummary' });

/** `GET /api/checkout/txns/summary`. */
export const TransactionSummary = Summary.pick({ startDate: true, endDate: true, currency: true, environment: true })
  .extend({ asOf: instant, ...grouped(PaymentSums).shape })
  .meta({ id: 'TransactionSummary' });

export const SeriesQuery = z.strictObject({
  startDate: dateParam,
  endDate: dateParam.describe('At most 366 days in all'),
  interval: interval.default('day'),
  by: z
    .enum(['status', 'channel', 'failureReason'])
    .default('status')
    .describe('What the groups are by; failureReason is the failure code of FAILED payments'),
});

const keyed = {
  total: PaymentSums,
  groups: z.array(z.object({ key: z.string().nullable().describe('null: without any'), ...PaymentSums.shape })),
};

/** `GET /api/checkout/reports/series`. */
export const Series = z
  .object({
    ...Summary.pick({ startDate: true, endDate: true, timeZone: true, currency: true, environment: true }).shape,
    ...SeriesQuery.pick({ interval: true, by: true }).shape,
    asOf: instant,
    ...keyed,
    series: z
      .array(
        z.object({
          ...Summary.pick({ startDate: true, endDate: true, startDateEthiopian: true, endDateEthiopian: true }).shape,
          ...keyed,
        }),
      )
      .describe('Every interval of the range, also those without payments; they add up to total'),
  })
  .meta({ id: 'PaymentSeries' });
