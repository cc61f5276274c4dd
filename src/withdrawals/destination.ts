import { maskDigits } from '../lib/mask.ts';
import type { PayoutDestination } from '../providers/provider.ts';

/** Where money goes, and to whom. */
export type Destination = PayoutDestination & { accountName: string };

/** One beneficiary, however often it is paid: the key that rows of `withdrawal` are found by. */
export function beneficiaryOf(destination: PayoutDestination): string {
  return destination.kind === 'phone' ? destination.phone : `${destination.bankCode}:${destination.accountNumber}`;
}

/** As it is shown: the last four digits of a phone or an account say enough to tell it by. */
export function maskDestination(destination: Destination) {
  const { accountName } = destination;
  if (destination.kind === 'phone') return { phone: maskDigits(destination.phone), accountName };
  return { bankCode: destination.bankCode, accountNumber: maskDigits(destination.accountNumber), accountName };
}
