/**
 * An id of ours as a provider that allows letters and digits only wants it: `pat_01J…` (a payment) is `pat01J…`,
 * `wd_01J…` (a payout) is `wd01J…`. Throws for what is not ours.
 */
export function toPlainOrderId(orderId: string): string {
  const parts = /^([a-z]{2,4})_([0-9A-Z]{1,60})$/.exec(orderId);
  if (!parts) throw new Error(`order id "${orderId}" is not of the form pat_01J… or wd_01J…`);
  return `${parts[1]}${parts[2]}`;
}

/** The reverse: the prefix is in small letters and the rest is not, so nothing is lost. Null for what is not ours. */
export function fromPlainOrderId(plain: unknown): string | null {
  const parts = typeof plain === 'string' ? /^([a-z]{2,4})([0-9A-Z]{1,60})$/.exec(plain) : null;
  return parts ? `${parts[1]}_${parts[2]}` : null;
}
