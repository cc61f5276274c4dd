import { environment } from '../config.ts';
import { formatBanner } from './banner.ts';
import { readLocalSettings } from './settings.ts';
import { findLockHolder, readState, type Facts } from './state.ts';

/** What `npm run -s status -- --json` prints: every fact, null where there is none. */
export type Status = { running: boolean; pid: number | null; dataDir: string } & {
  [Name in keyof Facts]-?: string | null;
};

/** `npm run status`: whether a local start is running, and how to reach it. */
export async function status(project: string, args: readonly string[]): Promise<number> {
  const { dataFolder } = readLocalSettings(environment, project);
  const [holder, state] = await Promise.all([findLockHolder(dataFolder), readState(dataFolder)]);
  const isReady = holder !== undefined && state?.pid === holder;
  const found = describeStatus({ facts: state?.facts ?? {}, pid: isReady ? holder : undefined, dataFolder });
  if (args.includes('--json')) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  else if (isReady)
    process.stdout.write(`Meskot runs, as process ${holder}.\n\n${formatBanner(state.facts, dataFolder)}\n`);
  else if (holder !== undefined) process.stdout.write(`Meskot is being started by process ${holder}.\n`);
  else process.stdout.write('Meskot does not run here. "npm start" starts it.\n');
  return 0;
}

function describeStatus(known: { facts: Facts; pid: number | undefined; dataFolder: string }): Status {
  const { facts, pid } = known;
  // An address is of use only while somebody answers there; keys and ids stay true.
  const address = (url: string | undefined): string | null => (pid === undefined ? null : (url ?? null));
  return {
    running: pid !== undefined,
    pid: pid ?? null,
    apiUrl: address(facts.apiUrl),
    docsUrl: address(facts.docsUrl),
    demoShopUrl: address(facts.demoShopUrl),
    simulatorUrl: address(facts.simulatorUrl),
    temporalUiUrl: address(facts.temporalUiUrl),
    temporalAddress: address(facts.temporalAddress),
    databaseUrl: address(facts.databaseUrl),
    metricsUrl: address(facts.metricsUrl),
    checkoutUrl: address(facts.checkoutUrl),
    sandboxKey: facts.sandboxKey ?? null,
    merchantId: facts.merchantId ?? null,
    webhookSecret: facts.webhookSecret ?? null,
    operatorKey: facts.operatorKey ?? null,
    dataDir: known.dataFolder,
  };
}
