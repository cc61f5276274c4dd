/** `live` moves money, `sandbox` does not. A merchant exists in both; data never crosses. */
export type Environment = 'sandbox' | 'live';

/** The merchant and environment that every row belongs to and every query names. */
export type MerchantScope = { merchantId: string; environment: Environment };

/** The scope alone, of a row or a caller. */
export function scopeOf({ merchantId, environment }: MerchantScope): MerchantScope {
  return { merchantId, environment };
}
