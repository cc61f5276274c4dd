import { invalid } from '../lib/errors.ts';
import { FORMATS } from './formats/formats.ts';
import type { ReportFormat } from './states.ts';

/** Throws VALIDATION_ERROR for more rows than a file of this form may have. */
export function ensureBelowLimit(format: ReportFormat, count: number): void {
  const { rowsMax } = FORMATS[format];
  if (count <= rowsMax) return;
  const issue = `${format} takes at most ${rowsMax} rows, and there are more: ask for a shorter period`;
  throw invalid('format', issue);
}
