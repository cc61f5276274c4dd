import { addisDay } from '../../lib/dates.ts';

/** An option of the command line, under the name of the API's field; `--merchant-id` is `merchantId`. */
type OptionSpec = {
  about: string;
  /** Stands for a value in the help. */
  sample: string;
  type?: 'integer' | 'amount' | 'list' | 'boolean';
  choices?: readonly string[];
  default?: () => string | number;
};

const CHANNELS = ['TELEBIRR', 'CBE_BIRR', 'AWASH', 'MPESA'];
const ROWS_MAX = 100;

/** All options that stand for fields of the API. */
export const OPTIONS = {
  action: { about: 'Action of the audit log', sample: 'withdrawal.approve' },
  amount: { about: 'Amount in ETB', sample: '99.50', type: 'amount' },
  as: { about: 'What it was', sample: 'RETURNED', choices: ['ALLOCATED', 'RETURNED', 'CORRECTED'] },
  attemptId: { about: 'Payment attempt that holds the money', sample: 'pat_…' },
  bankAccountId: { about: 'Bank account that you have read', sample: 'bac_…' },
  bankReference: { about: 'Trace id of the bank', sample: 'FT-1' },
  channel: { about: 'Channel', sample: 'TELEBIRR', choices: CHANNELS },
  creditedOn: {
    about: 'Day of the credit; today unless given',
    sample: '2027-10-15',
    default: () => addisDay(new Date()),
  },
  date: { about: 'Day', sample: '2027-10-15' },
  day: { about: 'Day in Addis Ababa', sample: '2027-10-15' },
  days: { about: 'Lifetime in days', sample: '90', type: 'integer' },
  email: { about: 'E-mail address', sample: 'sara@example.et' },
  endDate: { about: 'Last day', sample: '2027-10-15' },
  environment: {
    about: 'Environment',
    sample: 'live',
    choices: ['sandbox', 'live'],
    default: () => 'sandbox',
  },
  ipRanges: { about: 'Addresses in CIDR notation, separated by commas', sample: '203.0.113.0/24', type: 'list' },
  kind: { about: 'Kind; lists take several, separated by commas', sample: 'KYC' },
  kycStatus: { about: 'Status of the verification', sample: 'SUBMITTED' },
  limit: { about: 'Rows of a page', sample: '100', type: 'integer', default: () => ROWS_MAX },
  merchantId: { about: 'Merchant', sample: 'mrc_…' },
  name: { about: 'Name', sample: '"Sara Bekele"' },
  nameAm: { about: 'Name in Amharic', sample: 'መስቀል' },
  operatorId: { about: 'Operator', sample: 'opr_…' },
  outcome: { about: 'Outcome at the provider', sample: 'COMPLETED', choices: ['COMPLETED', 'FAILED'] },
  overlapHours: { about: 'Hours for which the old key stays valid', sample: '24', type: 'integer' },
  page: { about: 'Page of the list', sample: '2', type: 'integer' },
  paidAmount: { about: 'Paid amount in ETB, if another', sample: '99.50', type: 'amount' },
  providerReference: { about: 'Reference of the provider', sample: 'CASE-7' },
  reason: { about: 'Reason, recorded in the audit log', sample: '"Checked by phone"' },
  reference: { about: 'Reference of the provider or the bank', sample: 'RET-1' },
  resourceId: { about: 'Resource that was changed', sample: 'wd_…' },
  returnReference: { about: 'Trace id of the return', sample: 'RT-1' },
  role: { about: 'Role', sample: 'finance', choices: ['viewer', 'support', 'finance', 'admin'] },
  scopes: { about: 'Restricts the key to these scopes', sample: 'checkout:read,checkout:write', type: 'list' },
  search: { about: 'An id, a reference, or a part of the name', sample: 'Coffee' },
  startDate: { about: 'First day; 30 days ago unless given', sample: '2027-10-01' },
  state: { about: 'State', sample: 'OPEN', choices: ['OPEN', 'CLOSED'] },
  status: { about: 'Status, several separated by commas, or ALL', sample: 'PENDING' },
  submission: { about: 'Number of the submission that you have read', sample: '1', type: 'integer' },
  tier: { about: 'Tier', sample: '2', type: 'integer' },
  waiting: { about: 'Only what waits for a decision', sample: 'true', choices: ['true', 'false'] },
  withdrawalId: { about: 'Withdrawal', sample: 'wd_…' },
} as const satisfies Readonly<Record<string, OptionSpec>>;

export type OptionName = keyof typeof OPTIONS;

/** An option as a verb lists it: with `!` it is required, with `?` it has no default. */
export type OptionUse = OptionName | `${OptionName}!` | `${OptionName}?`;

/** What an option of a verb is. */
export function optionOf(use: OptionUse): OptionSpec & { name: OptionName; required: boolean } {
  const name = use.replace(/[!?]$/, '') as OptionName;
  const { default: defaultValue, ...spec }: OptionSpec = OPTIONS[name];
  const required = use.endsWith('!');
  return { ...spec, name, required, ...(defaultValue && use === name && { default: defaultValue }) };
}

/** Parameters of paths in the help. */
export const PARAMETER_SAMPLES: Readonly<Record<string, string>> = {
  bankMoneyId: 'bkm_…',
  channel: 'TELEBIRR',
  differenceId: 'rcd_…',
  documentId: 'kyd_…',
  holidayId: 'hol_…',
  keyId: 'key_…',
  merchantId: 'mrc_…',
  operatorId: 'opr_…',
  proposalId: 'prp_…',
  settlementId: 'stl_…',
  transactionId: 'txn_…',
  withdrawalId: 'wd_…',
};

type Call = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /api/${string}`;

/** A command that is one request to the API. */
export type Verb = {
  about: string;
  call: Call;
  /** Fields of the query, or of the body where the method changes something. Parameters of the path are arguments. */
  options?: readonly OptionUse[];
  /** Fields of the body that the verb stands for, unless an option gives them. */
  body?: Readonly<Record<string, string | boolean>> | undefined;
  /** Moves money or cannot be undone: asks, or needs --yes. */
  confirm?: boolean;
  /** The path of its resource: read first, it must be in --environment. It is confirmed too. */
  resource?: `/api/${string}`;
  /** The content type of a file that is sent in place of a body. */
  upload?: string;
  /** The columns of a list; --json has every field. */
  columns?: readonly string[];
  /** The work queue's other list, by an option --stalled. */
  stalled?: Call;
  /** What --admin does in place of the request, in the database. */
  admin?: string;
};

export type Noun = { about: string; verbs: Readonly<Record<string, Verb>> };

/** The options of every list in pages. */
export const PAGE = ['page', 'limit'] as const;
