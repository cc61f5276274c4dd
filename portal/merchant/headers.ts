import { environment } from '../ui/environment.ts';

/** Of every call: its environment, and the merchant that the page shows. */
export const headers: Record<string, string> = { 'x-meskot-environment': environment };

/** Calls name this merchant from now on, so that they fail once another tab has switched to another one. */
export function nameMerchant(merchantId: string): void {
  headers['x-meskot-merchant'] = merchantId;
}
