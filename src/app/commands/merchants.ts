import { COMMON_OPTIONS, runNoun, UsageError, type Row, type Verb, type Write } from '../../lib/command-line.ts';
import type { Database } from '../../lib/db.ts';
import { listMerchants, type Merchant } from '../../merchants/operations.ts';

/** What --help prints. */
export const MERCHANTS_USAGE = `meskot merchants create NAME [--operator opr_…]
meskot merchants list
A new merchant has every available channel in the sandbox. Its keys are made by "meskot keys create --merchant mrc_…".
--operator says who acts, an admin; on a machine with demo data its operator does. --json prints JSON.
`;

const OPTIONS = { operator: { type: 'string' }, ...COMMON_OPTIONS } as const;

const NAME_CHARACTERS_MAX = 100;

export type MerchantsCommandDeps = {
  db: Database;
  /** Makes a merchant with what it starts with, as the operator that was named, if any. */
  addMerchant: (input: { name: string }, by: { operator: string | undefined }) => Promise<Merchant>;
  write: Write;
};

type MerchantVerb = Verb<typeof OPTIONS>;

/** Runs `meskot merchants …`; `args` without the two words. Exit code: 0 done, 2 wrong usage, 3 not allowed, 4 not found. */
export async function runMerchantsCommand(args: readonly string[], deps: MerchantsCommandDeps): Promise<number> {
  const verbs = new Map([
    ['create', create(deps)],
    ['list', listAll(deps)],
  ]);
  const columns = ['id', 'name', 'status', 'kycStatus', 'createdAt'];
  return runNoun(
    { name: 'merchants', usage: MERCHANTS_USAGE, options: OPTIONS, verbs, columns, write: deps.write },
    args,
  );
}

const create =
  ({ addMerchant }: MerchantsCommandDeps): MerchantVerb =>
  async ({ options: { operator }, args }) =>
    present(await addMerchant({ name: readName(args) }, { operator }));

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

function present({ id, name, status, kycStatus, createdAt }: Merchant): Row {
  return { id, name, status, kycStatus, createdAt: createdAt.toISOString() };
}
