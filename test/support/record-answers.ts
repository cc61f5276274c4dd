import { appendFileSync } from 'node:fs';

/** The file to which successful responses of this run are written: the examples of the docs are chosen from them. */
// oxlint-disable-next-line node/no-process-env
const FILE = process.env['RECORD_ANSWERS'];

export type RecordedResponse = { operationId: string; status: number; body: { data: unknown; message: string } };

/** Records a successful response, if the run has a file for them. */
export function recordAnswer(operationId: string, { status, body }: { status: number; body?: unknown }): void {
  if (FILE === undefined || status > 299 || typeof body !== 'object' || body === null || !('statusCode' in body))
    return;
  appendFileSync(FILE, `${JSON.stringify({ operationId, status, body })}\n`);
}
