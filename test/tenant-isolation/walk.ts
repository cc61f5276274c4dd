import type { HttpResponse } from '../support/http.ts';
import { createMerchantWithEverything, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { pathWith } from './samples.ts';
import { startTestService, type TestService } from './service.ts';

/** Calls of every documented operation, with the key of a merchant with data of every kind or of an operator. */
export type Walk = {
  service: TestService;
  merchant: Merchant;
  operations: Operation[];
  /** An id of the merchant for each path parameter. */
  ids: Record<string, string>;
  keyFor: (operation: Operation) => string;
  send: (operation: Operation, request: { query?: string; body?: unknown }) => Promise<HttpResponse>;
};

export async function startWalk(merchantName: string): Promise<Walk> {
  const service = await startTestService();
  const merchant = await createMerchantWithEverything(service, merchantName);
  const operatorKey = await service.newOperatorKey();
  const operations = await readOperations(service);
  const ids = Object.fromEntries(Object.entries(merchant.ids).map(([name, [id = '']]) => [name, id]));
  const keyFor = ({ by }: Operation): string => (by === 'operator' ? operatorKey : merchant.key);
  return {
    service,
    merchant,
    operations,
    ids,
    keyFor,
    send: (operation, { query = '', body }) =>
      service.send(operation.method, pathWith(operation, ids) + query, {
        key: keyFor(operation),
        ...(body !== undefined && { body }),
      }),
  };
}
