import type { KycStatus } from '../operations.ts';

/** The merchant may change and submit it. */
export const EDITABLE: readonly KycStatus[] = ['NOT_STARTED', 'MORE_INFO_NEEDED', 'REJECTED'];

/** An operator may decide it. */
export const DECIDABLE: readonly KycStatus[] = ['SUBMITTED', 'UNDER_REVIEW'];

/** The sandbox's decision by the last two digits of the TIN; `wait` leaves it to an operator. */
export function sandboxDecision(tin: string | undefined): 'approve' | 'reject' | 'wait' | 'request-info' {
  switch ((tin ?? '').slice(-2)) {
    case '13':
      return 'reject';
    case '14':
      return 'wait';
    case '15':
      return 'request-info';
    default:
      return 'approve';
  }
}

/** The kinds of timeline entries. */
export const TIMELINE_KINDS = [
  'application.saved',
  'document.uploaded',
  'application.submitted',
  'review.started',
  'review.approved',
  'review.rejected',
  'review.more_info_needed',
  'tier.changed',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];
