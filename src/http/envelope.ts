import { inAddis } from '../lib/dates.ts';
import type { AppError, ErrorCode, FieldIssue } from '../lib/errors.ts';
import type { Pagination } from './route.ts';

/** An instant as ISO 8601 with Addis Ababa's UTC offset, as the envelope's `timestamp` is written. */
export function offsetTimestamp(instant: Date): string {
  return `${inAddis(instant).toISOString().slice(0, -1)}+03:00`;
}

/** What a success envelope is made of; `dataJson` is the JSON text of `data`. */
export type Success = { status: number; message: string; dataJson: string; pagination?: Pagination | undefined };

/** The success envelope as JSON text. */
export function successText(success: Success, at: Date): string {
  const pagination = success.pagination ? `,"pagination":${JSON.stringify(success.pagination)}` : '';
  return `{"statusCode":${success.status},"message":${JSON.stringify(success.message)},"data":${success.dataJson}${pagination},"timestamp":"${offsetTimestamp(at)}"}`;
}

/** The error envelope. */
export type ErrorEnvelope = {
  statusCode: number;
  message: string;
  data: null;
  error: { code: ErrorCode; details: FieldIssue[]; docUrl: string; existing?: Record<string, string> };
  requestId: string;
  timestamp: string;
};

/** The error envelope as JSON text. */
export function errorText(error: AppError, about: { requestId: string; baseUrl: string; at: Date }): string {
  const envelope: ErrorEnvelope = {
    statusCode: error.status,
    message: error.message,
    data: null,
    error: {
      code: error.code,
      details: error.details,
      docUrl: `${about.baseUrl}/docs/errors#${error.code}`,
      ...(error.existing && { existing: error.existing }),
    },
    requestId: about.requestId,
    timestamp: offsetTimestamp(about.at),
  };
  return JSON.stringify(envelope);
}
