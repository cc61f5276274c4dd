import { invalid } from '../../lib/errors.ts';
import type { ReportRow } from '../queries.ts';
import type { ReportFormat } from '../states.ts';
import { renderPdf } from './pdf.ts';
import { renderCsv, renderJson, type Rendering } from './rendering.ts';
import { renderXlsx } from './xlsx.ts';

export type Format = {
  contentType: string;
  rowsMax: number;
  /** A report with at most this many rows is generated within its request, a larger one by a workflow. */
  immediateRowsMax: number;
  /** Rows read by one statement. */
  pageRows: number;
  /** The file in chunks, so that its size does not determine the memory it takes. */
  render: (rendering: Rendering) => AsyncIterable<string | Uint8Array>;
};

const TABLE_LIMITS = {
  // Summed up well within the statement timeout of five seconds, and fits a sheet (1,048,575).
  rowsMax: 1_000_000,
  // About 5 MB.
  immediateRowsMax: 10_000,
  // About 1 MB.
  pageRows: 1_000,
} as const;

export const FORMATS: Readonly<Record<ReportFormat, Format>> = {
  CSV: { contentType: 'text/csv; charset=utf-8', ...TABLE_LIMITS, render: renderCsv },
  XLSX: {
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ...TABLE_LIMITS,
    render: renderXlsx,
  },
  JSON: { contentType: 'application/json; charset=utf-8', ...TABLE_LIMITS, render: renderJson },
  PDF: {
    contentType: 'application/pdf',
    // About 200 pages.
    rowsMax: 10_000,
    // Loading the fonts takes half a second.
    immediateRowsMax: 0,
    // Writing them blocks the event loop for a tenth of a second.
    pageRows: 100,
    render: renderPdf,
  },
};

const PDF_OF_SETTLEMENTS: Format = {
  ...FORMATS.PDF,
  // Each with a statement, whose movements are not limited.
  rowsMax: 500,
  // Progress counts settlements whose statement is written.
  pageRows: 1,
};

/** The format of a report's file. */
export function formatOf({ kind, format }: Pick<ReportRow, 'kind' | 'format'>): Format {
  return kind === 'settlements' && format === 'PDF' ? PDF_OF_SETTLEMENTS : FORMATS[format];
}

/** Throws VALIDATION_ERROR for more rows than the file of this report may have. */
export function ensureRowsBelowMax(report: Pick<ReportRow, 'kind' | 'format'>, count: number): void {
  const { format } = report;
  const { rowsMax } = formatOf(report);
  if (count <= rowsMax) return;
  const issue = `${format} takes at most ${rowsMax} rows, and there are more: request a shorter period${format === 'PDF' ? ', or CSV or XLSX' : ''}`;
  throw invalid('format', { issue, code: 'rows_too_many', params: { maximum: rowsMax } });
}
