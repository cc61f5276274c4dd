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

/** The statuses that lead to one. */
export function statusesBefore(status: KycStatus): KycStatus[] {
  return (Object.keys(KYC_TRANSITIONS) as KycStatus[]).filter((before) => KYC_TRANSITIONS[before].includes(status));
}

/** The merchant may change and submit it. */
export const EDITABLE: readonly KycStatus[] = ['NOT_STARTED', 'MORE_INFO_NEEDED', 'REJECTED'];
