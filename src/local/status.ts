import { join } from 'node:path';

import { environment } from '../config.ts';
import { NEW_SHOP } from '../demo/seed/demo.ts';
import { addisDay, DAY_MS } from '../lib/dates.ts';
import { ADDRESSES, CREDENTIALS, findLockHolder, readState, type ServiceInfo } from './data-folder.ts';
import { LOG_FILE } from './log.ts';
import { readLocalSettings } from './settings.ts';

/** The output of `npm run -s status -- --json`: every entry, null without one. */
export type Status = { running: boolean; pid: number | null; dataDir: string } & {
  [Name in keyof ServiceInfo]-?: string | null;
};

/** `npm run status`: whether a local start is running, and its addresses. */
export async function status(project: string, { json = false }: { json?: boolean }): Promise<number> {
  const { dataFolder } = readLocalSettings(environment, project);
  const [holder, state] = await Promise.all([findLockHolder(dataFolder), readState(dataFolder)]);
  const info = state?.info ?? {};
  const isReady = holder !== undefined && state?.pid === holder;
  const write = (text: string): void => void process.stdout.write(`${text}\n`);
  if (json) {
    const known = isReady ? info : { ...info, ...Object.fromEntries(ADDRESSES.map((name) => [name, null])) };
    const entries = [...ADDRESSES, ...CREDENTIALS].map((name) => [name, known[name] ?? null]);
    const pid = isReady ? holder : null;
    write(JSON.stringify({ running: isReady, pid, ...Object.fromEntries(entries), dataDir: dataFolder }, null, 2));
  } else if (isReady) write(`Meskot runs as process ${holder}.\n\n${formatBanner(info, dataFolder)}`);
  else if (holder !== undefined) write(`Meskot is being started by process ${holder}.`);
  else write('Meskot is not running here. "npm start" starts it.');
  return 0;
}

/** The banner: addresses, keys and first commands, as far as they exist. */
export function formatBanner(info: ServiceInfo, dataFolder: string): string {
  const lines: [string, string | undefined][] = [
    ['API', info.apiUrl],
    ['Docs', info.docsUrl],
    ['Sandbox key', info.sandboxKey],
    ['Webhook secret', info.webhookSecret],
    ['Operator key', info.operatorKey],
    ['Second operator', info.secondOperatorKey],
    ['Checkout page', info.checkoutUrl && `${info.checkoutUrl}  (waits to be paid)`],
    ['Demo shop', info.demoShopUrl],
    ['Temporal UI', info.temporalUiUrl],
    ['Metrics', info.metricsUrl],
    ['Data', dataFolder],
    ['Log', join(dataFolder, LOG_FILE)],
  ];
  const table = lines
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${name.padEnd(15)} ${value}`);
  return [...table, ...firstCommands(info)].join('\n');
}

/** Commands that work as printed. */
function firstCommands({ apiUrl, sandboxKey }: ServiceInfo): string[] {
  if (!apiUrl || !sandboxKey) return [];
  const today = addisDay(new Date());
  const monthAgo = addisDay(new Date(Date.now() - 30 * DAY_MS));
  const query = `startDate=${monthAgo}&endDate=${today}&status=SUCCESS&currency=ETB`;
  return [
    '',
    '  Try it:',
    `  curl -H 'Authorization: Bearer ${sandboxKey}' '${apiUrl}/api/checkout/txns/get_all_txns?${query}'`,
    '',
    `  The demo merchant "${NEW_SHOP.name}" has no key yet; this invites it to create one:`,
    `  npm run -s cli -- keys invite ${NEW_SHOP.scope.merchantId}`,
  ];
}
