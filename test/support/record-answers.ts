import { appendFileSync } from 'node:fs';

/** A file that the answers of this run are kept in, to choose the examples of the docs from (test/docs/choose-answers.ts). */
// oxlint-disable-next-line node/no-process-env
const FILE = process.env['RECORD_ANSWERS'];

export type RecordedResponse = { operationId: string; status: number; body: { data: unknown; message: string } };

/** Keeps an answer that is no refusal, where that is asked for. */
export function recordAnswer(operationId: string, { status, body }: { status: number; body?: unknown }): void {
  if (FILE === undefined || status > 299 || typeof body !== 'object' || body === null || !('statusCode' in body))
    return;
  appendFileSync(FILE, `${JSON.stringify({ operationId, status, body })}\n`);
}
