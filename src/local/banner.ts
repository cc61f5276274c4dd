import { join } from 'node:path';

import { NEW_SHOP } from '../demo/seed/demo.ts';
import { addisDay, DAY_MS } from '../lib/dates.ts';
import type { Facts } from './state.ts';

/** Warnings and errors of a local start, below the data folder. */
export const LOG_FILE = join('logs', 'meskot.log');

/** What a person needs to begin, as one block of lines: only what there is. */
export function formatBanner(facts: Facts, dataFolder: string): string {
  const lines: [string, string | undefined][] = [
    ['API', facts.apiUrl],
    ['Docs', facts.docsUrl],
    ['Sandbox key', facts.sandboxKey],
    ['Webhook secret', facts.webhookSecret],
    ['Operator key', facts.operatorKey],
    ['Checkout page', facts.checkoutUrl && `${facts.checkoutUrl}  (waits to be paid)`],
    ['Demo shop', facts.demoShopUrl],
    ['Temporal UI', facts.temporalUiUrl],
    ['Metrics', facts.metricsUrl],
    ['Data', dataFolder],
    ['Log', join(dataFolder, LOG_FILE)],
  ];
  const table = lines
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${name.padEnd(15)} ${value}`);
  return [...table, ...tryIt(facts)].join('\n');
}

/** A command that works as it is printed. */
function tryIt({ apiUrl, sandboxKey }: Facts): string[] {
  if (!apiUrl || !sandboxKey) return [];
  const today = addisDay(new Date());
  const monthAgo = addisDay(new Date(Date.now() - 30 * DAY_MS));
  const query = `startDate=${monthAgo}&endDate=${today}&status=SUCCESS&currency=ETB`;
  return [
    '',
    '  Try it:',
    `  curl -H 'Authorization: Bearer ${sandboxKey}' '${apiUrl}/api/checkout/txns/get_all_txns?${query}'`,
    '',
    `  The demo merchant "${NEW_SHOP.name}" has no key yet; this makes one:`,
    `  npm run -s cli -- keys create --merchant ${NEW_SHOP.scope.merchantId}`,
  ];
}
