import type { Clock } from '../../lib/clock.ts';
import type { ParsedCallback, Provider, RawCallback, Unknown } from '../provider.ts';
import { PAYOUT_TO, type ConnectionSettings, type Credentials, type LiveChannel } from '../settings.ts';
import { chooseSets, isInEffect, type CredentialSet } from './queries.ts';
import { readAllStatements, type StatementAccount } from './statements.ts';
import type { CredentialStore } from './store.ts';
import { accountOf, type AccountCredentials } from './values.ts';

/** Connects the provider's protocol for one account. */
export type ConnectOne = (credentials: Credentials) => Provider;

/** An account at a provider: payments and payouts as one provider, and the statements of each account that it consists of. */
type Account = { provider: Provider; statements: StatementAccount[] };

/** Payments and payouts, each by its own account where payouts are part of the contract. */
export function connectAccount(
  connectOne: ConnectOne,
  { callbackBaseUrl, payouts: hasPayouts }: ConnectionSettings,
  { payIn, payOut }: AccountCredentials,
): Account {
  const payments = connectOne(payIn);
  const statements = [{ name: accountOf(payIn), statement: payments.statement }];
  if (!hasPayouts) {
    return { provider: { ...payments, callbackBaseUrl, capabilities: { payoutTo: [] } }, statements };
  }
  const payouts = payOut ? connectOne(payOut) : payments;
  if (payOut && accountOf(payOut) !== accountOf(payIn)) {
    statements.push({ name: accountOf(payOut), statement: payouts.statement });
  }
  const { payout, queryPayout, capabilities } = payouts;
  const parseCallback = parseByAny([payments, payouts]);
  return { provider: { ...payments, callbackBaseUrl, payout, queryPayout, capabilities, parseCallback }, statements };
}

/** Verified if any of the accounts verifies it. */
function parseByAny(providers: readonly Provider[]): Provider['parseCallback'] {
  return (callback: RawCallback): ParsedCallback => {
    const all = providers.map((provider) => provider.parseCallback(callback));
    return all.find(({ verified }) => verified) ?? all[0] ?? { verified: false, problem: 'no account' };
  };
}

type MerchantAccounts = {
  credentials: CredentialStore;
  channel: LiveChannel;
  clock: Clock;
  connect: (account: AccountCredentials) => Account;
};
type Parts = {
  platform: Account | null;
  accounts: MerchantAccounts | undefined;
  channel: LiveChannel;
  connection: ConnectionSettings;
};

/** A live channel: merchants' orders by their own account if they have one, all others by the platform's. */
export function withMerchantAccounts({ platform, accounts, channel, connection }: Parts): Provider {
  const provider = platform?.provider ?? withoutAccount(channel, connection);
  const ofPlatform = platform?.statements ?? [];
  if (!accounts) return { ...provider, statement: readAllStatements(async () => ofPlatform) };
  const merchants = connectMerchants(accounts, connection.payouts);
  return {
    ...provider,
    needsOwnAccount: platform === null,
    withAccountOf: async ({ merchantId, sentAt }) => {
      const chosen = chooseSets(await merchants.setsOf(merchantId), { sentAt, now: accounts.clock() });
      if (chosen === null) return platform?.provider ?? null;
      const usable = chosen.map((set) => merchants.connectSet(set).provider);
      // A provider may sign callbacks of older orders with its newer key.
      return usable[0] ? { ...usable[0], parseCallback: parseByAny(usable) } : null;
    },
    statement: readAllStatements(async () => [...ofPlatform, ...(await merchants.statements())]),
  };
}

const SETS_MAX = 10_000;

function connectMerchants({ credentials, channel, clock, connect }: MerchantAccounts, hasPayouts: boolean) {
  /** By the set's id; they hold the provider's tokens, too. */
  const connected = new Map<string, Account>();

  function connectSet(set: CredentialSet): Account {
    const account = connected.get(set.id) ?? connect(credentials.open(set));
    connected.delete(set.id);
    connected.set(set.id, account);
    if (connected.size > SETS_MAX) connected.delete(connected.keys().next().value ?? '');
    return account;
  }

  /** All sets of a merchant; those that have ended are no longer connected. */
  async function setsOf(merchantId: string): Promise<readonly CredentialSet[]> {
    const sets = await credentials.setsOf({ merchantId, channel });
    for (const set of sets) if (!isInEffect(set, clock())) connected.delete(set.id);
    return sets;
  }

  /** One account of a merchant, whose other dealings there are not ours to store. */
  const statementOf = (name: string, merchantId: string): StatementAccount => ({
    name,
    ordersOnly: true,
    statement: async (day, cursor) => {
      const usable = (await setsOf(merchantId)).filter((set) => isInEffect(set, clock()));
      const found = usable.flatMap((set) => connectSet(set).statements).find((one) => one.name === name);
      return found ? found.statement(day, cursor) : noCredentials();
    },
  });

  return {
    connectSet,
    setsOf,
    statements: async (): Promise<StatementAccount[]> =>
      (await credentials.accountsOf(channel)).flatMap(({ merchantId, account, payoutAccount }) => {
        const names = hasPayouts && payoutAccount !== null ? [account, payoutAccount] : [account];
        return names.map((name) => statementOf(name, merchantId));
      }),
  };
}

const NO_CREDENTIALS = "the account's credentials were revoked or have retired: enter and activate new ones";
const noCredentials = (): Unknown => ({ kind: 'unknown', reason: 'network', message: NO_CREDENTIALS });

/** A channel on which the platform has no account: what concerns all accounts, and no call. */
function withoutAccount(channel: LiveChannel, { callbackBaseUrl, payouts }: ConnectionSettings): Provider {
  const none = async (): Promise<Unknown> => noCredentials();
  return {
    channel,
    initiate: none,
    query: none,
    payout: none,
    queryPayout: none,
    statement: none,
    capabilities: { payoutTo: payouts ? PAYOUT_TO[channel] : [] },
    callbackBaseUrl,
    parseCallback: () => ({ verified: false, problem: 'no account is configured' }),
    callbackResponse: { contentType: 'text/plain', body: '' },
  };
}
