/** The only numbers that pay in the sandbox. The page, the docs and the error for any other number list them. */
export const SANDBOX_PHONES = [
  { phone: '0911000001', behaviour: 'approve', outcome: 'approved within a second' },
  { phone: '0911000002', behaviour: 'decline', outcome: 'declined' },
  { phone: '0911000003', behaviour: 'insufficient-funds', outcome: 'insufficient funds' },
  { phone: '0911000004', behaviour: 'never', outcome: 'never answers' },
  { phone: '0911000005', behaviour: 'approve-slowly', outcome: 'approved after 2 minutes' },
  { phone: '0911000006', behaviour: 'approve-after-expiry', outcome: 'approved after the session expired' },
  {
    phone: '0911000007',
    behaviour: 'approve-without-callback',
    outcome: 'approved, callback lost (found by polling)',
  },
  { phone: '0911000008', behaviour: 'approve-wrong-amount', outcome: 'approved with a wrong amount' },
  {
    phone: '0911000009',
    behaviour: 'approve-refund-fails',
    outcome: 'approved within a second; a refund of it is accepted, then fails',
  },
] as const;

export type SandboxBehaviour = (typeof SANDBOX_PHONES)[number]['behaviour'];

const PAYOUTS = [
  { phone: '0911000001', behaviour: 'pay', outcome: 'paid within a second' },
  { phone: '0911000002', behaviour: 'decline', outcome: 'declined at once' },
  {
    phone: '0911000003',
    behaviour: 'insufficient-float',
    outcome: 'declined at once: the operator has too little money at the provider',
  },
  { phone: '0911000004', behaviour: 'never', outcome: 'never decided' },
  { phone: '0911000005', behaviour: 'pay-slowly', outcome: 'paid after 2 minutes' },
  { phone: '0911000006', behaviour: 'pay-then-reverse', outcome: 'paid, and reversed a minute later' },
  { phone: '0911000007', behaviour: 'pay-without-callback', outcome: 'paid, callback lost (found by polling)' },
  { phone: '0911000008', behaviour: 'accept-then-fail', outcome: 'accepted, then failed' },
] as const;

/** The only numbers that receive payouts in the sandbox, and the last digits of bank accounts that behave alike. */
export const SANDBOX_PAYOUTS = PAYOUTS.map((payout) => ({ ...payout, accountEndsIn: payout.phone.slice(-1) }));

/** What happens to refunds, by the phone that paid. */
export const SANDBOX_REFUNDS = [
  { phone: '0911000001', behaviour: 'pay', outcome: 'refunded within a second' },
  { phone: '0911000004', behaviour: 'never', outcome: 'never decided (approve the payment for the customer first)' },
  { phone: '0911000005', behaviour: 'pay-slowly', outcome: 'refunded after 2 minutes' },
  { phone: '0911000006', behaviour: 'decline', outcome: 'declined at once' },
  { phone: '0911000007', behaviour: 'pay-without-callback', outcome: 'refunded, callback lost (found by polling)' },
  {
    phone: '0911000008',
    behaviour: 'insufficient-float',
    outcome: 'declined at once: the operator has too little money at the provider (once the held payment is released)',
  },
  { phone: '0911000009', behaviour: 'accept-then-fail', outcome: 'accepted, then failed' },
] as const satisfies { phone: string; behaviour: SandboxPayoutBehaviour; outcome: string }[];

/** The behaviour of a refund of a payment from this phone; of any other it is paid. */
export function refundBehaviour(payer: string): SandboxPayoutBehaviour {
  return SANDBOX_REFUNDS.find(({ phone }) => phone === localPhone(payer))?.behaviour ?? 'pay';
}

/** The behaviour of a payout to a sandbox phone or account. */
export type SandboxPayoutBehaviour = (typeof PAYOUTS)[number]['behaviour'];

/** The sandbox phone written as 09…, 9…, 2519… or +2519…; null for any other number. */
export function findSandboxPhone(phone: string): (typeof SANDBOX_PHONES)[number] | null {
  return SANDBOX_PHONES.find((known) => known.phone === localPhone(phone)) ?? null;
}

/** The behaviour of this payee; other accounts behave like those ending in 1; null for a phone outside the list. */
export function findSandboxPayout(payee: { phone: string; accountNumber: string }) {
  const { accountNumber } = payee;
  if (accountNumber === '') return PAYOUTS.find(({ phone }) => phone === localPhone(payee.phone)) ?? null;
  return PAYOUTS.find(({ phone }) => accountNumber.endsWith(phone.slice(-1))) ?? PAYOUTS[0];
}

function localPhone(phone: string): string {
  return `0${phone.replace(/^(\+?251|0)/, '')}`;
}
