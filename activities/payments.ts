import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { PaymentInput } from '../src/payments/workflow.ts';

type PaymentReport = { final: boolean; attemptStatus: string };

type Operation = (attemptId: string, at: Date) => Promise<PaymentReport>;

export type PaymentDeps = {
  check: Operation;
  /** Queries a last time, then expires the attempt and its session; not final while the outcome is unknown. */
  expire: Operation;
};

type PaymentRequest = { attemptId: string; atMs: number };

export type PaymentActivities = ReturnType<typeof createPaymentActivities>;

/** @param elapsed milliseconds since the running activity was scheduled. */
export function createPaymentActivities({ check, expire }: PaymentDeps, elapsed = elapsedMs) {
  const reporting =
    (operation: Operation) =>
    async ({ attemptId, atMs }: PaymentRequest): Promise<PaymentReport> => {
      const { final, attemptStatus } = await operation(attemptId, new Date(atMs + elapsed()));
      return { final, attemptStatus };
    };
  return withoutUselessRetries({ checkAttempt: reporting(check), expireAttempt: reporting(expire) });
}
