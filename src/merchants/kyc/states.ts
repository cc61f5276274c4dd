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

/** The sandbox's own decisions by the last two digits of the TIN; all others are approved. */
export const SANDBOX_DECISIONS = {
  13: 'reject',
  14: 'wait',
  15: 'request_info',
} as const;

export type SandboxDecision = 'approve' | 'reject' | 'wait' | 'request_info';

/** The sandbox's decision about an application; `wait` leaves it to an operator. */
export function sandboxDecision(tin: string | undefined): SandboxDecision {
  const ending = Number((tin ?? '').slice(-2));
  return Object.hasOwn(SANDBOX_DECISIONS, ending) ? SANDBOX_DECISIONS[ending as 13] : 'approve';
}
