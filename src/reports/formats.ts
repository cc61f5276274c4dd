import { renderCsv } from './csv.ts';
import { renderJson } from './json.ts';
import { PDF_ROWS_MAX, renderPdf } from './pdf.ts';
import type { Rendering } from './rendering.ts';
import type { ReportFormat } from './states.ts';
import { renderXlsx, XLSX_ROWS_MAX } from './xlsx.ts';

/** One form of file. */
export type Format = {
  extension: string;
  contentType: string;
  /** How many rows it may have. */
  rowsMax: number;
  /** The file piece by piece, so that a large one takes no more memory than a small one. */
  render: (rendering: Rendering) => AsyncIterable<string | Uint8Array>;
};

/** More are better asked for in parts. */
const ROWS_MAX = 5_000_000;

/** Every form of file. */
export const FORMATS: Readonly<Record<ReportFormat, Format>> = {
  CSV: { extension: 'csv', contentType: 'text/csv; charset=utf-8', rowsMax: ROWS_MAX, render: renderCsv },
  XLSX: {
    extension: 'xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    rowsMax: XLSX_ROWS_MAX,
    render: renderXlsx,
  },
  JSON: { extension: 'json', contentType: 'application/json; charset=utf-8', rowsMax: ROWS_MAX, render: renderJson },
  PDF: { extension: 'pdf', contentType: 'application/pdf', rowsMax: PDF_ROWS_MAX, render: renderPdf },
};
