/* Without imports, so that every folder and the pages can use it. */

/** A setting of a provider, as it is written in the environment and in credentials of merchants. */
export type Setting = {
  /** What it is for, as docs/operations/settings.md has it. */
  help: string;
} & (
  | {
      kind: 'text';
      isSecret?: true;
      /** Shown to operators, to compare with what was issued: as it is, or its last characters. */
      shown?: 'whole' | 'end';
    }
  | { kind: 'privateKey' | 'publicKeys' }
  /** A whole page, below this path of the simulator in the sandbox. */
  | { kind: 'page'; sandboxPath: string }
  /** The first one is the default. */
  | { kind: 'choice'; of: readonly [string, ...string[]] }
);
export type Settings = Readonly<Record<string, Setting>>;

/** The values of these settings. */
export type ValuesOf<Of extends Settings> = {
  -readonly [Field in keyof Of]: Of[Field] extends { of: readonly (infer Value)[] } ? Value : string;
};

/** In santim, both included. */
type Range = { minSantim: bigint; maxSantim: bigint };

/** A channel that is announced: listed, and not usable yet. */
export type Announced = {
  /** As the API names the channel. */
  id: string;
  /** As people know the provider, the same in every language. */
  name: string;
  /** As the API names the channel in `transactionThrough`. */
  transactionThrough: string;
  /** The place among the channels: 1, 2, … */
  position: number;
  /** What a payment and a payout may be, until operators change it; what is written when `migrate` adds the channel. */
  limits: { payIn: Range; payOut: Range };
};

/** A provider: all that is to be known of it besides its messages. */
export type Manifest = Announced & {
  /** The folder that has the adapter: its own, or that of the provider whose messages it shares. */
  protocol: string;
  /** Who issues credentials. */
  issuer: string;
  payoutTo: readonly ('phone' | 'bank')[];
  /** Whether its order ids have only letters and digits: `pat01J…` in place of `pat_01J…`. */
  hasPlainOrderIds: boolean;
  /** Of the provider's service, besides its address. */
  service: Settings;
  /** Of an account there. */
  credentials: Settings;
  /** The field of credentials by which the provider names the account. */
  account: string;
  /** The key and the secret of credentials that are exchanged for a token; null where calls are only signed. */
  tokenBy: readonly [string, string] | null;
  /** What calls are signed with, besides a private key: to be compared after a rejection, the likeliest mistake first. */
  signedWith: readonly string[];
  /** The simulator's: its path, and the texts of the account there, which are published on purpose. */
  sandbox: { path: string; credentials: Readonly<Record<string, string>> };
};
