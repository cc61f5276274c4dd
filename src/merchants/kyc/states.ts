import type { KycStatus } from '../operations.ts';

/** The transitions. An application is submitted again after a rejection and a request for information. */
export const KYC_TRANSITIONS: Readonly<Record<KycStatus, readonly KycStatus[]>> = {
  NOT_STARTED: ['SUBMITTED'],
  SUBMITTED: ['UNDER_REVIEW', 'APPROVED', 'REJECTED', 'MORE_INFO_NEEDED'],
  UNDER_REVIEW: ['APPROVED', 'REJECTED', 'MORE_INFO_NEEDED'],
  APPROVED: [],
  REJECTED: ['SUBMITTED'],
  MORE_INFO_NEEDED: ['SUBMITTED'],
};

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
