import { isDeepStrictEqual } from 'node:util';

import { createCache } from '../../lib/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyRing } from '../../lib/crypto.ts';
import { endOfAddisDay, startOfAddisDay } from '../../lib/dates.ts';
import type { Queryable } from '../../lib/db.ts';
import { manifestOf, type LiveChannel } from '../../merchants/channels/channel.ts';
import type { AccountStatement, ParsedCallback, Provider, RawCallback, Unknown } from '../provider.ts';
import type { ConnectionSettings, Credentials } from '../settings.ts';
import { chooseSets, isInEffect, listAccounts, listCredentials, type CredentialSet } from './queries.ts';
import { accountOf, openCredentials, type AccountCredentials } from './values.ts';

export type ConnectOne = (credentials: Credentials) => Provider;

/** An account at a provider: payments and payouts as one provider, and the statements of each account that it consists of. */
type Account = { provider: Provider; statements: AccountStatement[] };

/** Payments and payouts, each by its own account where payouts are part of the contract. */
export function connectAccount(
  connectOne: ConnectOne,
  { channel, connection }: { channel: LiveChannel; connection: ConnectionSettings },
  { payIn, payOut }: AccountCredentials,
): Account {
  const { callbackBaseUrl, payouts: hasPayouts, refunds: hasRefunds } = connection;
  const accounts = { payments: accountOf(channel, payIn), payouts: accountOf(channel, payOut ?? payIn) };
  const payments = connectOne(payIn);
  const statements = [{ account: accounts.payments, statement: payments.statement }];
  const payouts = payOut && !isDeepStrictEqual(payOut, payIn) ? connectOne(payOut) : payments;
  if (accounts.payouts !== accounts.payments) {
    statements.push({ account: accounts.payouts, statement: payouts.statement });
  }
  const provider: Provider = {
    ...payments,
    callbackBaseUrl,
    // Payouts in flight stay with their account when new ones are switched off.
    queryPayout: payouts.queryPayout,
    payout: hasPayouts ? payouts.payout : async () => switchedOff('payouts'),
    // Likewise refunds.
    refund: hasRefunds ? payments.refund : async () => switchedOff('refunds'),
    capabilities: { payoutTo: hasPayouts ? payouts.capabilities.payoutTo : [], refunds: hasRefunds },
    parseCallback: parseByAny([payments, payouts]),
    accounts,
  };
  return { provider, statements };
}

const switchedOff = (what: 'payouts' | 'refunds'): Unknown => ({
  kind: 'unknown',
  reason: 'not-configured',
  message: `not sent: ${what} of this channel are switched off (…_${what.toUpperCase()})`,
});

/** Verified if any of the accounts verifies it. */
function parseByAny(providers: readonly Provider[]): Provider['parseCallback'] {
  return (callback: RawCallback): ParsedCallback => {
    const all = providers.map((provider) => provider.parseCallback(callback));
    return all.find(({ verified }) => verified) ?? all[0] ?? { verified: false, problem: 'no account' };
  };
}

/** Where merchants' credentials are stored, and the keys that they are encrypted with. */
export type StoredCredentials = { db: Queryable; keyRing: KeyRing };

type MerchantAccounts = {
  credentials: StoredCredentials;
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
  if (!accounts) return { ...provider, accountStatements: async () => ofPlatform };
  const merchants = connectMerchants(accounts);
  return {
    ...provider,
    needsOwnAccount: platform === null,
    forOrder: async ({ merchantId, sentAt }) => {
      const chosen = chooseSets(await merchants.setsOf(merchantId), { sentAt, now: accounts.clock() });
      if (chosen === null) return platform?.provider ?? null;
      const [first, ...others] = chosen;
      if (!first) return null;
      const { provider: own } = merchants.connectSet(first);
      // A provider may sign callbacks of older orders with its newer key.
      const parseCallback: Provider['parseCallback'] = (callback) => {
        const parsed = own.parseCallback(callback);
        if (parsed.verified) return parsed;
        return parseByAny([own, ...others.flatMap((set) => merchants.tryConnect(set))])(callback);
      };
      return { ...own, parseCallback };
    },
    accountStatements: async (day) => [...ofPlatform, ...(await merchants.statements(day))],
  };
}

/** Less than the time after which a decision applies (APPLIES_AFTER_MS). */
const CACHE_MS = 4_000;
const CACHED_MAX = 10_000;

/** Our ids of payments, payouts and refunds. */
const OUR_ORDER = /^(?:pat|wd|rfd)_[0-9A-Z]+$/;

function connectMerchants({ credentials: { db, keyRing }, channel, clock, connect }: MerchantAccounts) {
  const load = createCache((merchantId) => listCredentials(db, { merchantId, channel }), {
    ttlMs: CACHE_MS,
    entriesMax: CACHED_MAX,
  });
  /** All sets of a merchant, newest first, at most 4 s old. */
  const read = async (merchantId: string) => (await load(merchantId, clock().getTime())) ?? [];
  /** By the set's id; they hold the provider's tokens, too. */
  const connected = new Map<string, Account>();

  function connectSet(set: CredentialSet): Account {
    const account = connected.get(set.id) ?? connect(openCredentials(keyRing, set));
    connected.delete(set.id);
    connected.set(set.id, account);
    if (connected.size > CACHED_MAX) connected.delete(connected.keys().next().value ?? '');
    return account;
  }

  /** None where the set cannot be decrypted: another set of the account may still verify. */
  function tryConnect(set: CredentialSet): Provider[] {
    try {
      return [connectSet(set).provider];
    } catch {
      return [];
    }
  }

  /** All sets of a merchant; those that have ended are no longer connected. */
  async function setsOf(merchantId: string): Promise<readonly CredentialSet[]> {
    const sets = await read(merchantId);
    for (const set of sets) if (!isInEffect(set, clock())) connected.delete(set.id);
    return sets;
  }

  /**
   * One account of a merchant, whose other dealings there are not ours to store. Retired sets read the days on which they
   * were in effect; revoked ones nothing.
   */
  const statementOf = (account: string, merchantId: string): AccountStatement => ({
    account,
    statement: async (day, cursor) => {
      const sets = await read(merchantId);
      const usable = sets.find(
        (set) => [set.account, set.payoutAccount].includes(account) && isInEffect({ ...set, retiresAt: null }, clock()),
      );
      const found = usable && connectSet(usable).statements.find((one) => one.account === account);
      const page = found ? await found.statement(day, cursor) : noCredentials();
      return page.kind === 'page'
        ? { ...page, rows: page.rows.filter(({ orderId }) => OUR_ORDER.test(orderId)) }
        : page;
    },
  });

  return {
    connectSet,
    tryConnect,
    setsOf,
    /** Of the accounts that were in effect at any time of a day. */
    statements: async (day: string): Promise<AccountStatement[]> => {
      const accounts = await listAccounts(db, { channel, at: endOfAddisDay(day), since: startOfAddisDay(day) });
      return accounts.flatMap(({ merchantId, account, payoutAccount }) =>
        // Also while payouts are switched off: some may be in flight.
        [account, ...(payoutAccount === null ? [] : [payoutAccount])].map((name) => statementOf(name, merchantId)),
      );
    },
  };
}

const NO_CREDENTIALS = "the account's credentials were revoked or have retired: enter and activate new ones";
const noCredentials = (): Unknown => ({ kind: 'unknown', reason: 'not-configured', message: NO_CREDENTIALS });

/** A channel on which the platform has no account: what concerns all accounts, and no call. */
function withoutAccount(channel: LiveChannel, { callbackBaseUrl, payouts, refunds }: ConnectionSettings): Provider {
  const none = async (): Promise<Unknown> => noCredentials();
  return {
    channel,
    initiate: none,
    query: none,
    payout: none,
    queryPayout: none,
    refund: none,
    queryRefund: none,
    statement: none,
    capabilities: { payoutTo: payouts ? manifestOf(channel).payoutTo : [], refunds },
    callbackBaseUrl,
    parseCallback: () => ({ verified: false, problem: 'no account is configured' }),
    callbackResponse: { contentType: 'text/plain', body: '' },
  };
}
