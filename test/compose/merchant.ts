import type { Installation } from './installation.ts';

export const API = 'https://pay.localhost';

export type Merchant = { operatorKey: string; merchantId: string; key: string };

/** The first admin, a merchant and its sandbox key, by the commands of the pages in a running container. */
export async function createMerchant(installation: Installation): Promise<Merchant> {
  const run = async (args: string[], key?: string): Promise<Record<string, unknown>> =>
    JSON.parse(await installation.meskot([...args, '--json'], key === undefined ? {} : { key }));
  const admin = ['--admin', '--name', 'Sara Bekele', '--email', 'sara@example.et'];
  const { secret } = (await run(['operators', 'create', ...admin])) as { secret: string };
  const { merchantId } = (await run(['merchants', 'create', '--name', 'Coffee'], secret)) as { merchantId: string };
  const { token } = await run(['keys', 'invite', merchantId, '--name', 'server'], secret);
  const accepted = { body: { token } };
  const { body } = await installation.send<{ secret: string }>('POST', `${API}/api/invitations/accept`, accepted);
  return { operatorKey: secret, merchantId, key: body.data.secret };
}
