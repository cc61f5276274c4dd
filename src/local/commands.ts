import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { environment, readConfig } from '../config.ts';
import { DEMO_OPERATORS, DEMO_PEOPLE, NEW_SHOP } from '../demo/seed/demo.ts';
import { addisDay, DAY_MS } from '../lib/dates.ts';
import { ADDRESSES, CREDENTIALS, findLockHolder, lockDataFolder, readState, type ServiceInfo } from './data-folder.ts';
import { LOG_FILE, print } from './log.ts';
import { BUILD_LOG_FILE } from './portal.ts';
import { readLocalSettings, withLocalServers } from './settings.ts';

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
    const all = { running, pid: running ? pid : null, ...Object.fromEntries(entries), dataDir: dataFolder };
    print(JSON.stringify(all, null, 2));
  } else if (running) print(`Meskot runs as process ${pid}.\n\n${formatBanner(info, dataFolder)}`);
  else if (holder !== undefined) print(`Meskot is being started by process ${holder}.`);
  else print('Meskot is not running here. "npm start" starts it.');
  return 0;
}

/** `npm run reset`: wipes the data folder of local starts. Fails while one is running; leaves other databases as they are. */
export async function reset(project: string): Promise<number> {
  const { dataFolder, DATABASE_URL: databaseUrl } = readLocalSettings(environment, project);
  const lock = await lockDataFolder(dataFolder);
  if ('takenBy' in lock) {
    process.stderr.write(`Meskot runs as process ${lock.takenBy}: stop it first (Ctrl-C there), then reset.\n`);
    return 1;
  }
  // By name: the folder may contain other files too.
  const names = [
    'simulator.jsonl',
    'state.json',
    LOG_FILE,
    `${LOG_FILE}.1`,
    'documents',
    'reports',
    'portal',
    BUILD_LOG_FILE,
  ];
  const { stopOrphans } = await import('./servers.ts');
  const ours = [...(await stopOrphans(dataFolder)), ...names.map((name) => join(dataFolder, name))];
  await Promise.all(ours.map((path) => rm(path, { recursive: true, force: true })));
  lock.release();
  for (const folder of [join(dataFolder, dirname(LOG_FILE)), dataFolder]) await rmdir(folder).catch(() => undefined);
  print(`Wiped ${dataFolder}. "npm start" begins afresh.`);
  if (databaseUrl) print('The database that DATABASE_URL names was left as it is.');
  return 0;
}

/**
 * `meskot demo seed`: creates the demo data of `npm start` in the database of DATABASE_URL or else of the local start.
 * Idempotent. `project` is the folder of package.json.
 */
export async function seed(project: string, write: (text: string) => void): Promise<void> {
  const { seedDemo } = await import('../demo/seed/seed.ts');
  const config = readConfig(await withLocalServers(project));
  if (config.production) throw new Error('Demo data is for local use: MESKOT_MODE=production rejects it.');
  const settings = readLocalSettings(environment, project);
  const { info: previous } = readState(settings.dataFolder);
  const { demoShopUrl = `http://localhost:${settings.DEMO_SHOP_PORT}` } = previous;
  const payments = settings.MESKOT_DEMO_PAYMENTS;
  const secrets = await seedDemo({ config, previous, payments, webhookUrl: `${demoShopUrl}/webhooks` });
  write(
    `merchant        ${secrets.merchantId}\nsandbox key     ${secrets.sandboxKey}\nwebhook secret  ${secrets.webhookSecret}\n` +
      `operator key    ${secrets.operatorKey}\nsecond operator ${secrets.secondOperatorKey}\n`,
  );
}

/** The banner: addresses, keys and first commands, as far as they exist. */
export function formatBanner(info: ServiceInfo, dataFolder: string): string {
  const lines: [string, string | undefined][] = [
    ['API', info.apiUrl],
    ['Portal', info.portalUrl],
    ...signIn(info, DEMO_PEOPLE),
    ['Console', info.consoleUrl],
    ...signIn(info, DEMO_OPERATORS),
    ['Password', info.portalPassword && `${info.portalPassword}  (of each of them)`],
    ['Console code', info.portalPassword && 'npm run -s cli -- demo code [e-mail]  (in place of an authenticator app)'],
    ['Docs', info.docsUrl],
    ['Sandbox key', info.sandboxKey],
    ['Webhook secret', info.webhookSecret],
    ["Operators' API", info.opsUrl && `${info.opsUrl}  (for these keys; docs at /docs)`],
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

/** The demo people who can sign in to the portal, or operators who can sign in to the console. */
function signIn({ portalPassword }: ServiceInfo, list: readonly { email: string }[]): [string, string | undefined][] {
  return portalPassword ? [['Sign in as', list.map(({ email }) => email).join(', ')]] : [];
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
