import type { Channel } from '../channels/channel.ts';
import { providerTransferFact, unmatchedMoneyFact, type Posting } from '../ledger/facts.ts';
import { post } from '../ledger/post.ts';
import { AppError } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import type { Change } from '../lib/outbox.ts';
import type { Environment } from '../lib/owner.ts';

/** Money that came to the operator's bank account. `bankReference`: the bank's trace id, by which it is booked once. */
export type BankMoney = { environment: Environment; amountSantim: Santim; bankReference: string; at: Date };

/**
 * A provider has paid the operator what it owed, or a part of it: the bank has it, and the provider owes it no more.
 * `already`: this transfer was booked before. Throws VALIDATION_ERROR (no money, no reference) and DUPLICATE_REFERENCE
 * (the reference stands for another amount).
 */
export async function recordProviderTransfer(
  change: Change,
  { bankReference, ...transfer }: BankMoney & { channel: Channel },
): Promise<'posted' | 'already'> {
  check(transfer.amountSantim, bankReference);
  return book(change, providerTransferFact({ id: bankReference, ...transfer }), transfer.at);
}

/** Money has come to the bank that nobody can place: it waits in suspense. Answers and throws as a transfer does. */
export async function recordUnmatchedMoney(
  change: Change,
  { bankReference, ...deposit }: BankMoney,
): Promise<'posted' | 'already'> {
  check(deposit.amountSantim, bankReference);
  return book(change, unmatchedMoneyFact({ id: bankReference, ...deposit }), deposit.at);
}

const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/;

function check(amountSantim: Santim, bankReference: string): void {
  if (amountSantim <= 0n) throw refused('amount', 'must be above 0');
  if (!REFERENCE.test(bankReference)) {
    throw refused(
      'bankReference',
      'must be 1 to 64 letters, digits and any of _ . / -, beginning with one of the former',
    );
  }
}

function refused(field: string, issue: string): AppError {
  return new AppError('VALIDATION_ERROR', `${field} ${issue}.`, { details: [{ field, issue }] });
}

/** SQLSTATE of ledger_post for a key that is another fact's. */
const ANOTHER_FACT = 'MK002';

async function book({ trx }: Change, posting: Posting, at: Date): Promise<'posted' | 'already'> {
  try {
    return await post(trx, posting, at);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === ANOTHER_FACT)) throw error;
    const issue = `${posting.resourceId} was booked with another amount`;
    throw new AppError('DUPLICATE_REFERENCE', `bankReference ${issue}; look it up at the bank.`, {
      details: [{ field: 'bankReference', issue }],
    });
  }
}
