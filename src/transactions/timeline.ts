/** What can stand in a transaction's timeline, and what its `detail` holds. The one vocabulary of pages, API and portal. */
export const TIMELINE_KINDS = {
  'session.created': 'The merchant made the session: amountSantim, type',
  'session.expired': 'Its time ran out, or the merchant ended it: reconcile',
  'session.cancelled': 'The customer gave up',
  'attempt.started': 'The customer chose a channel: attemptId, channel',
  'attempt.declined': 'The provider said no: attemptId, code, providerCode, next (the session after it)',
  'provider.answer': "The provider's answer changed: attemptId, outcome, providerCode",
  'payment.succeeded': 'Paid: attemptId, channel, providerReference, late',
  'payment.held': 'Paid, but not what was asked: attemptId, reason, expectedSantim, receivedSantim, currency',
  'payment.duplicate': 'Paid a second time: attemptId, channel, providerReference',
  'claim.success': 'Somebody said it was paid; the provider was asked: claimedStatus, reason, providerReference',
  'claim.error': 'Somebody said it failed; the provider was asked',
  'claim.cancel': 'The customer wished to cancel',
} as const;

export type TimelineKind = keyof typeof TIMELINE_KINDS;
