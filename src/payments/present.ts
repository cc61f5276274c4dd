import { addisDay } from '../lib/dates.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import { TRANSACTION_THROUGH, type Channel } from '../merchants/channels/channel.ts';
import type { ProviderFailure } from '../providers/provider.ts';
import type { HeldReason, TransactionStatus } from './states.ts';

/** A row of `transaction`. */
export type TransactionRow = {
  id: string;
  sessionId: string;
  merchantId: string;
  environment: Environment;
  checkoutOrderNo: string;
  amountSantim: Santim;
  currency: string;
  type: 'API' | 'QRCODE';
  status: TransactionStatus;
  channel: Channel | null;
  providerReference: string | null;
  failure: ProviderFailure | null;
  confirmedLate: boolean;
  holdReason: HeldReason | null;
  needsReconciliation: boolean;
  /** The received amount, where an operator has accepted another amount than the expected one. */
  receivedSantim: Santim | null;
  feeSantim: Santim | null;
  feeTaxSantim: Santim | null;
  customerName: string | null;
  customerEmail: string | null;
  customerPhone: string | null;
  metadata: Record<string, string> | null;
  version: number;
  createdAt: Date;
  completedAt: Date | null;
};

/**
 * The public transaction: the contract's fields in its order, then ours. Unknown fields are left out, except
 * `transactionThrough`, which is null until a channel is chosen.
 */
export function presentTransaction(row: TransactionRow) {
  return {
    checkoutOrderNo: row.checkoutOrderNo,
    amount: toBirr(row.amountSantim),
    currency: row.currency,
    transactionThrough: row.channel && TRANSACTION_THROUGH[row.channel],
    transactionDate: addisDay(row.createdAt),
    type: row.type,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    sessionId: row.sessionId,
    transactionId: row.id,
    ...(row.customerName === null ? {} : { customerName: row.customerName }),
    ...(row.customerEmail === null ? {} : { customerEmail: row.customerEmail }),
    ...(row.customerPhone === null ? {} : { customerPhone: row.customerPhone }),
    ...presentFee(row),
    ...(row.providerReference === null ? {} : { providerReference: row.providerReference }),
    ...(row.completedAt === null ? {} : { completedAt: row.completedAt.toISOString() }),
    ...(row.failure === null ? {} : { failure: row.failure }),
    ...(row.confirmedLate ? { lateConfirmation: true } : {}),
    ...(row.holdReason === null ? {} : { held: row.holdReason }),
    environment: row.environment,
    ...(row.metadata === null ? {} : { metadata: row.metadata }),
  };
}

/** Fee, tax and net amount; set once the payment has succeeded. */
function presentFee({ amountSantim, receivedSantim, feeSantim, feeTaxSantim }: TransactionRow) {
  if (feeSantim === null || feeTaxSantim === null) return {};
  const received = receivedSantim ?? amountSantim;
  return {
    ...(receivedSantim === null ? {} : { receivedAmount: toBirr(receivedSantim) }),
    fee: toBirr(feeSantim),
    feeTax: toBirr(feeTaxSantim),
    netAmount: toBirr(received - feeSantim - feeTaxSantim),
  };
}
