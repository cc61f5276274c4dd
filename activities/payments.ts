/** What `workflows/payment.ts` is started with: ids and numbers. */
export type PaymentInput = {
  attemptId: string;
  merchantId: string;
  environment: 'sandbox' | 'live';
  channel: string;
  expiresAtMs: number;
};

/** Whether the attempt has ended, and how. */
export type PaymentReport = { final: boolean; attemptStatus: string };

export type PaymentDeps = {
  /** Asks the provider and applies its answer. */
  check: (attemptId: string, at: Date) => Promise<PaymentReport>;
  /** Expires the attempt and its session, unless the provider does not know: then it is not final yet. */
  expire: (attemptId: string, at: Date) => Promise<PaymentReport>;
};

export type PaymentActivities = ReturnType<typeof createPaymentActivities>;

export function createPaymentActivities(deps: PaymentDeps) {
  return {
    async checkAttempt(request: { attemptId: string; atMs: number }): Promise<PaymentReport> {
      return deps.check(request.attemptId, new Date(request.atMs));
    },

    /** The last query, then the end. */
    async expireAttempt(request: { attemptId: string; atMs: number }): Promise<PaymentReport> {
      const at = new Date(request.atMs);
      const report = await deps.check(request.attemptId, at);
      return report.final ? report : deps.expire(request.attemptId, at);
    },
  };
}
