/*
 * Kinds, formats and statuses of reports, pure: importable by workflows. Each transition is one conditional UPDATE on
 * the status before it.
 */

export const REPORT_KINDS = ['payments', 'refunds', 'withdrawals', 'settlements', 'balance'] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

export const REPORT_FORMATS = ['CSV', 'XLSX', 'JSON', 'PDF'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export const REPORT_STATUSES = ['QUEUED', 'RUNNING', 'READY', 'FAILED', 'CANCELLED', 'EXPIRED'] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

/** The transitions. FAILED: too many rows, or its workflow has failed for good. EXPIRED: its file is deleted. */
export const REPORT_TRANSITIONS: Readonly<Record<ReportStatus, readonly ReportStatus[]>> = {
  QUEUED: ['RUNNING', 'FAILED', 'CANCELLED'],
  RUNNING: ['READY', 'FAILED', 'CANCELLED'],
  READY: ['EXPIRED'],
  FAILED: [],
  CANCELLED: [],
  EXPIRED: [],
};
