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
  const { info: previous } = readState(settings.dataFolder);
  const { demoShopUrl = `http://localhost:${settings.DEMO_SHOP_PORT}` } = previous;
  const payments = settings.MESKOT_DEMO_PAYMENTS;
  const made = await seedDemo({ config, previous, payments, webhookUrl: `${demoShopUrl}/webhooks` });
  write(
    `merchant        ${made.merchantId}\nsandbox key     ${made.sandboxKey}\nwebhook secret  ${made.webhookSecret}\n` +
      `operator key    ${made.operatorKey}\nsecond operator ${made.secondOperatorKey}\n`,
  );
}
