import { Link } from '@tanstack/react-router';

import { Note } from '../ui/badge.tsx';
import { Facts } from '../ui/facts.tsx';
import { ApiMessage } from '../ui/feedback.tsx';
import { birr } from '../ui/format.ts';
import { catalogue } from '../ui/language.ts';
import { parseBirr } from '../ui/parse-birr.ts';
import type { SettlementQuote, WithdrawalQuote } from './routes.ts';

/** The texts that withdrawals and settlements share. */
export const text = catalogue({
  requestId: ['Your reference', 'የእርስዎ ማጣቀሻ'],
  amount: ['Amount', 'መጠን'],
  amountInBirr: ['Amount (ETB)', 'መጠን (ብር)'],
  fee: ['Fee', 'የአገልግሎት ክፍያ'],
  feeTax: ['Tax on the fee', 'የአገልግሎት ክፍያው ግብር'],
  totalDebit: ['Taken from the balance', 'ከቀሪ ሂሳብ የሚቀነስ'],
  status: ['Status', 'ሁኔታ'],
  requestedAt: ['Requested at', 'የተጠየቀበት ጊዜ'],
  entries: ['Entries of the balance', 'የቀሪ ሂሳብ ምዝገባዎች'],
  toBankAccount: ['Open the bank account', 'የባንክ ሂሳቡን ይክፈቱ'],
  keep: ['Keep it', 'ይቆይ'],
  timeline: ['Timeline', 'የጊዜ ቅደም ተከተል'],
});

/** What a payout would cost, and why it would be rejected. */
export function Price({ quote }: { quote: WithdrawalQuote | SettlementQuote }) {
  const { amount, fee, feeTax, totalDebit, problems } = quote;
  return (
    <div aria-live="polite" className="flex flex-col gap-2">
      <Facts
        rows={{
          [text.amount]: birr(amount),
          [text.fee]: birr(fee),
          [text.feeTax]: birr(feeTax),
          [text.totalDebit]: <strong className="font-semibold">{birr(totalDebit)}</strong>,
        }}
      />
      {problems.map((problem) => (
        <Note key={problem.code} tone="warn">
          <ApiMessage {...problem} />
          {problem.code === 'BANK_ACCOUNT_NOT_VERIFIED' && (
            <Link to="/bank-account" className="underline">
              {text.toBankAccount}
            </Link>
          )}
        </Note>
      ))}
    </div>
  );
}

/** An amount as a person types it, as the API takes it; undefined: none yet, or no amount. */
export function typedBirr(typed: string): number | undefined {
  return parseBirr(typed.replaceAll(/\s/g, '')) || undefined;
}
