import { COMMON_OPTIONS, runNoun, UsageError, type Shown, type Verb, type Write } from '../lib/command-line.ts';
import type { Knex } from '../lib/db.ts';
import type { Owner } from '../lib/owner.ts';
import { createMerchant, listMerchants, type Merchant } from './operations.ts';

/** What --help prints. */
export const MERCHANTS_USAGE = `meskot merchants create NAME
meskot merchants list
A new merchant has every available channel in the sandbox. Its keys are made by "meskot keys create --merchant mrc_…".
--json prints JSON.
`;

const NAME_CHARACTERS_MAX = 100;

export type MerchantsCommandDeps = {
  db: Knex;
  /** Approves and switches on what a new merchant starts with. */
  grantChannels: (trx: Knex.Transaction, owner: Owner) => Promise<void>;
  write: Write;
};

type MerchantVerb = Verb<typeof COMMON_OPTIONS>;

/** Runs `meskot merchants …`; `args` without the two words. Exit code: 0 done, 2 wrong usage. */
export async function runMerchantsCommand(args: readonly string[], deps: MerchantsCommandDeps): Promise<number> {
  const verbs = new Map([
    ['create', create(deps)],
    ['list', listAll(deps)],
  ]);
  const columns = ['id', 'name', 'status', 'kycStatus', 'createdAt'];
  return runNoun(
    { name: 'merchants', usage: MERCHANTS_USAGE, options: COMMON_OPTIONS, verbs, columns, write: deps.write },
    args,
  );
}

const create =
  ({ db, grantChannels }: MerchantsCommandDeps): MerchantVerb =>
  async ({ args }) => {
    const name = readName(args);
    const merchant = await db.transaction(async (trx) => {
      const made = await createMerchant(trx, { name });
      await grantChannels(trx, { merchantId: made.id, environment: 'sandbox' });
      return made;
    });
    return present(merchant);
  };

const listAll =
  ({ db }: MerchantsCommandDeps): MerchantVerb =>
  async ({ args }) => {
    if (args.length > 0) throw new UsageError(`list takes no "${args.join(' ')}".`);
    return (await listMerchants(db)).map(present);
  };

/** One word: who forgets the quotes around two would get a merchant named by the first. */
function readName([text = '', ...more]: readonly string[]): string {
  const name = text.trim();
  if (more.length > 0) throw new UsageError(`Put the name in quotes: "${[text, ...more].join(' ')}".`);
  if (name === '') throw new UsageError('create needs a name.');
  if (name.length > NAME_CHARACTERS_MAX || /\p{Cc}/u.test(name)) {
    throw new UsageError(`The name must have at most ${NAME_CHARACTERS_MAX} characters, none of them for control.`);
  }
  return name;
}

function present({ id, name, status, kycStatus, createdAt }: Merchant): Shown {
  return { id, name, status, kycStatus, createdAt: createdAt.toISOString() };
}
