import type { KycStatus } from '../operations.ts';

/** The merchant may change and submit it: at first, when more is asked of it, and again after a no. */
export const EDITABLE: readonly KycStatus[] = ['NOT_STARTED', 'MORE_INFO_NEEDED', 'REJECTED'];

/** Waits for a decision. */
export const DECIDABLE: readonly KycStatus[] = ['SUBMITTED', 'UNDER_REVIEW'];

/** What the sandbox decides by itself, by the last two digits of the TIN: all that is not listed is approved. */
export const SANDBOX_DECISIONS = {
  13: 'reject',
  14: 'wait',
  15: 'ask',
} as const;

export type SandboxDecision = 'approve' | 'reject' | 'wait' | 'ask';

/** The sandbox's decision about an application; 14 leaves it to an operator. */
export function sandboxDecision(tin: string | undefined): SandboxDecision {
  const ending = Number((tin ?? '').slice(-2));
  return Object.hasOwn(SANDBOX_DECISIONS, ending) ? SANDBOX_DECISIONS[ending as 13] : 'approve';
}

/** What can stand in an application's timeline. */
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
