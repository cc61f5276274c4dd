import { join } from 'node:path';

import { environment } from '../config.ts';
import { NEW_SHOP } from '../demo/seed/demo.ts';
import { addisDay, DAY_MS } from '../lib/dates.ts';
import { ADDRESSES, CREDENTIALS, findLockHolder, readState, type ServiceInfo } from './data-folder.ts';
import { LOG_FILE, print } from './log.ts';
import { readLocalSettings } from './settings.ts';

/** The output of `npm run -s status -- --json`: every entry, null without one. */
export type Status = { running: boolean; pid: number | null; dataDir: string } & {
  [Name in keyof ServiceInfo]-?: string | null;
};

/** `npm run status`: whether a local start is running, and its addresses. */
export async function status(project: string, { json = false }: { json?: boolean }): Promise<number> {
  const { dataFolder } = readLocalSettings(environment, project);
  const holder = await findLockHolder(dataFolder);
  const { pid, info } = readState(dataFolder);
  const running = pid === holder;
  if (json) {
    const isKnown = (name: string): boolean => running || CREDENTIALS.some((one) => one === name);
    const entries = [...ADDRESSES, ...CREDENTIALS].map((name) => [name, (isKnown(name) && info[name]) || null]);
    print(
      JSON.stringify(
        { running, pid: running ? pid : null, ...Object.fromEntries(entries), dataDir: dataFolder },
        null,
        2,
      ),
    );
  } else if (running) print(`Meskot runs as process ${pid}.\n\n${formatBanner(info, dataFolder)}`);
  else if (holder !== undefined) print(`Meskot is being started by process ${holder}.`);
  else print('Meskot is not running here. "npm start" starts it.');
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
