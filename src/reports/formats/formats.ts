import type { ReportFormat } from '../states.ts';
import { renderCsv } from './csv.ts';
import { renderJson } from './json.ts';
import { PDF_ROWS_MAX, renderPdf } from './pdf.ts';
import type { Rendering } from './rendering.ts';
import { renderXlsx } from './xlsx.ts';

/** One form of file. */
export type Format = {
  extension: string;
  contentType: string;
  /** How many rows it may have. */
  rowsMax: number;
  /** With so many rows or fewer it is made by whoever was asked for it, at once; with more, by a workflow. */
  atOnceRowsMax: number;
  /** The file piece by piece, so that a large one takes no more memory than a small one. */
  render: (rendering: Rendering) => AsyncIterable<string | Uint8Array>;
};

/** Some 5 MB. */
const AT_ONCE_ROWS_MAX = 10_000;
/** What is added up well within a statement's five seconds, and fits a sheet (1,048,575). */
const ROWS_MAX = 1_000_000;

/** Every form of file. */
export const FORMATS: Readonly<Record<ReportFormat, Format>> = {
  CSV: {
    extension: 'csv',
    contentType: 'text/csv; charset=utf-8',
    rowsMax: ROWS_MAX,
    atOnceRowsMax: AT_ONCE_ROWS_MAX,
    render: renderCsv,
  },
  XLSX: {
    extension: 'xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    rowsMax: ROWS_MAX,
    atOnceRowsMax: AT_ONCE_ROWS_MAX,
    render: renderXlsx,
  },
  JSON: {
    extension: 'json',
    contentType: 'application/json; charset=utf-8',
    rowsMax: ROWS_MAX,
    atOnceRowsMax: AT_ONCE_ROWS_MAX,
    render: renderJson,
  },
  PDF: {
    extension: 'pdf',
    contentType: 'application/pdf',
    rowsMax: PDF_ROWS_MAX,
    // A settlement may have any number of movements.
    atOnceRowsMax: 0,
    render: renderPdf,
  },
};
