/** Where money moves for real, and where it does not. A merchant exists in both; nothing crosses over. */
export type Environment = 'sandbox' | 'live';

/** Whose something is: every row of a merchant's, every question about one, names both. */
export type MerchantScope = { merchantId: string; environment: Environment };

/** The owner alone, of a row or a caller that has one. */
export function scopeOf({ merchantId, environment }: MerchantScope): MerchantScope {
  return { merchantId, environment };
}
