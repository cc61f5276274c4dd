import type { Channel } from '../channels/channel.ts';
import { toBirr } from '../lib/money.ts';
import { recordArrival, type ArrivedMoney, type BankMoneyRow, type Booked } from '../reconciliation/bank-money.ts';
import {
  recordExcessTakenBack,
  settleBankMoney,
  type BankMoneyWord,
  type ExcessTakenBack,
} from '../reconciliation/settle-bank-money.ts';
import { note, type Deed } from './audit.ts';

/** Of a provider that paid what it owed, or (no channel) of nobody known. */
type Arrival = Omit<ArrivedMoney, 'at'> & { channel?: Channel | undefined; reason?: string | undefined };

/** Books money that came to the bank; twice is no error, and noted once. Throws VALIDATION_ERROR, DUPLICATE_REFERENCE. */
export async function bookArrival(deed: Deed, { reason, ...arrival }: Arrival): Promise<Booked> {
  const booked = await recordArrival(deed.change, { ...arrival, at: deed.at });
  const action = arrival.channel === undefined ? 'bank-money.unmatched' : 'bank-money.transfer';
  if (booked.isNew) await note(deed, { action, ...about(booked.money), after: standing(booked.money), reason });
  return booked;
}

/**
 * Books that a provider has taken back what it had paid too much; twice is no error, and noted once. Throws NOT_FOUND,
 * VALIDATION_ERROR, INVALID_STATE, DUPLICATE_REFERENCE.
 */
export async function bookExcess(
  deed: Deed,
  { reason, ...excess }: Omit<ExcessTakenBack, 'at'> & { reason: string },
): Promise<Booked> {
  const booked = await recordExcessTakenBack(deed.change, { ...excess, at: deed.at });
  const { money, isNew } = booked;
  if (isNew) await note(deed, { action: 'bank-money.excess', ...about(money), after: standing(money), reason });
  return booked;
}

/**
 * Says what became of money that was booked; twice is no error, and noted once. Throws NOT_FOUND, VALIDATION_ERROR,
 * INVALID_STATE, DUPLICATE_REFERENCE.
 */
export async function settleMoney(
  deed: Deed,
  { bankMoneyId, word, reason }: { bankMoneyId: string; word: BankMoneyWord; reason: string },
): Promise<BankMoneyRow> {
  const { money, before, changed } = await settleBankMoney(deed.change, bankMoneyId, { word, at: deed.at });
  if (!changed) return money;
  const change = { before: standing(before), after: { ...standing(money), as: word.as } };
  await note(deed, { action: 'bank-money.settle', ...about(money), ...change, reason });
  return money;
}

function about({ environment, id }: BankMoneyRow) {
  return { resourceType: 'bankMoney', resourceId: id, environment } as const;
}

function standing({ reference, amountSantim, channel, withdrawalId, outcome, returnReference }: BankMoneyRow) {
  return {
    reference,
    amount: toBirr(amountSantim),
    ...(channel !== null && { channel }),
    ...(withdrawalId !== null && { withdrawalId }),
    ...(outcome !== null && { outcome }),
    ...(returnReference !== null && { returnReference }),
  };
}
