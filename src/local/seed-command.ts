import { environment, readConfig } from '../config.ts';
import { seedDemo } from '../demo/seed/seed.ts';
import { readState } from './data-folder.ts';
import { readLocalSettings, withLocalServers } from './settings.ts';

/**
 * `meskot demo seed`: creates the demo data of `npm start` in the database of DATABASE_URL or else of the local start.
 * Idempotent. `project` is the folder of package.json.
 */
export async function seed(project: string, write: (text: string) => void): Promise<void> {
  const config = readConfig(await withLocalServers(project));
  if (config.production) throw new Error('Demo data is for local use: MESKOT_MODE=production rejects it.');
  const settings = readLocalSettings(environment, project);
  const previous = (await readState(settings.dataFolder))?.info ?? {};
  const shopUrl = previous.demoShopUrl ?? `http://localhost:${settings.DEMO_SHOP_PORT}`;
  const { merchantId, sandboxKey, webhookSecret, operatorKey, secondOperatorKey } = await seedDemo({
    config,
    previous,
    payments: settings.MESKOT_DEMO_PAYMENTS,
    webhookUrl: `${shopUrl}/webhooks`,
    onProgress: () => {},
  });
  write(
    `merchant        ${merchantId}\nsandbox key     ${sandboxKey}\nwebhook secret  ${webhookSecret}\noperator key    ${operatorKey}\nsecond operator ${secondOperatorKey}\n`,
  );
}
