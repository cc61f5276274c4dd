import { PAGE, type Noun, type OptionUse, type Verb } from './verb.ts';

const REQUESTS = ['environment', 'merchantId', 'status', 'search', 'startDate', 'endDate', ...PAGE] as const;
const WITHDRAWAL = '/api/ops/withdrawals/:withdrawalId';
const SETTLEMENT = '/api/ops/settlements/:settlementId';
const TRANSACTION = '/api/ops/transactions/:transactionId';
const RECONCILIATION = '/api/ops/reconciliation';
const RECEIPTS = '/api/ops/bank-money';

const withdrawal = (about: string, verb: string, options: readonly OptionUse[]): Verb => ({
  about,
  call: `POST ${WITHDRAWAL}/${verb}`,
  resource: WITHDRAWAL,
  options,
});
const settlement = (about: string, verb: string, options: readonly OptionUse[]): Verb => ({
  about,
  call: `POST ${SETTLEMENT}/${verb}`,
  resource: SETTLEMENT,
  options,
});

/** The work queue, and the nouns of money. */
export const MONEY_NOUNS: Readonly<Record<string, Noun>> = {
  work: {
    about: 'What needs an operator, and what is stalled',
    verbs: {
      list: {
        about: 'List what needs an operator, longest waiting first',
        call: 'GET /api/ops/queue',
        stalled: 'GET /api/ops/stuck',
        options: ['environment', 'kind', 'merchantId', ...PAGE],
        columns: ['since', 'kind', 'id', 'merchantId', 'amount', 'what'],
      },
    },
  },
  withdrawals: {
    about: 'Money out to phones and bank accounts',
    verbs: {
      list: {
        about: 'List withdrawals, newest first',
        call: 'GET /api/ops/withdrawals',
        options: REQUESTS,
        columns: ['requestedAt', 'withdrawalId', 'merchantId', 'amount', 'channel', 'status', 'stage'],
      },
      get: { about: 'Show a withdrawal for its review', call: `GET ${WITHDRAWAL}` },
      approve: withdrawal('Approve a withdrawal under review', 'approve', ['reason']),
      reject: withdrawal('Reject a withdrawal; the merchant sees the reason', 'reject', ['reason!']),
      resolve: withdrawal('Resolve a withdrawal as its provider has confirmed to you', 'resolve', [
        'outcome!',
        'providerReference!',
        'paidAmount',
        'reason!',
      ]),
    },
  },
  settlements: {
    about: "Money out to merchants' own bank accounts",
    verbs: {
      list: {
        about: 'List settlements, newest first',
        call: 'GET /api/ops/settlements',
        options: REQUESTS,
        columns: ['requestedAt', 'settlementId', 'merchantId', 'amount', 'status', 'expectedBy', 'bankReference'],
      },
      get: { about: 'Show a settlement for its approval and transfer', call: `GET ${SETTLEMENT}` },
      approve: settlement('Approve a settlement', 'approve', ['reason']),
      reject: settlement('Reject a settlement; the merchant sees the reason', 'reject', ['reason!']),
      'mark-sent': settlement('Claim a settlement for sending', 'sent', ['bankReference', 'reason']),
      'mark-credited': settlement('Record that the bank has credited it', 'credited', [
        'bankReference!',
        'creditedOn',
        'amount',
        'reason',
      ]),
      'mark-failed': settlement('Record that the bank has not credited it', 'failed', ['bankReference', 'reason!']),
      'mark-returned': settlement('Record that the bank has sent it back', 'returned', ['bankReference!', 'reason!']),
      'accept-late-credit': settlement('Book a credit after the settlement had failed', 'book-credit', ['reason!']),
      'dismiss-late-credit': settlement('Dismiss a credit after the settlement had failed', 'dismiss-credit', [
        'reason!',
      ]),
      'import-bank-file': {
        about: "Import the bank's results from a CSV file",
        call: 'POST /api/ops/settlements/bank-file',
        upload: 'text/csv',
        confirm: true,
      },
    },
  },
  payments: {
    about: 'Transactions, and money that is held',
    verbs: {
      get: { about: 'Show a transaction with its payment attempts', call: `GET ${TRANSACTION}` },
      release: {
        about: 'Give held money to the merchant, less the fee',
        call: `POST ${TRANSACTION}/accept`,
        resource: TRANSACTION,
        options: ['attemptId!', 'reason'],
      },
      return: {
        about: 'Record that held money was returned to the customer',
        call: `POST ${TRANSACTION}/reject`,
        resource: TRANSACTION,
        options: ['attemptId!', 'reference!', 'reason!'],
      },
    },
  },
  receipts: {
    about: 'Money on our bank account, and recoveries of providers',
    verbs: {
      list: {
        about: 'List receipts, newest first',
        call: `GET ${RECEIPTS}`,
        options: ['environment', 'reference', 'waiting', ...PAGE],
        columns: ['bookedAt', 'bankMoneyId', 'kind', 'amount', 'bankReference', 'providerReference', 'outcome'],
      },
      'record-remittance': {
        about: 'Book what a provider has paid to our bank account',
        call: `POST ${RECEIPTS}/transfers`,
        options: ['environment', 'channel!', 'amount!', 'bankReference!', 'reason'],
        confirm: true,
      },
      'record-unallocated': {
        about: 'Book money of which the sender is unknown; it is held in suspense',
        call: `POST ${RECEIPTS}/unmatched`,
        options: ['environment', 'amount!', 'bankReference!', 'reason'],
        confirm: true,
      },
      'record-recovery': {
        about: 'Book that a provider has recovered what it had overpaid',
        call: `POST ${RECEIPTS}/excess`,
        resource: WITHDRAWAL,
        options: ['withdrawalId!', 'reference!', 'reason!'],
      },
      decide: {
        about: 'Allocate or return a receipt in suspense, or reverse a wrong booking',
        call: `POST ${RECEIPTS}/:bankMoneyId/settle`,
        resource: `${RECEIPTS}/:bankMoneyId`,
        options: ['as!', 'channel', 'returnReference', 'reason!'],
      },
    },
  },
  reconciliation: {
    about: "Days compared with the providers' statements",
    verbs: {
      list: {
        about: 'List the compared days, latest first',
        call: `GET ${RECONCILIATION}`,
        options: ['environment', 'channel', 'startDate', 'endDate'],
        columns: ['day', 'channel', 'status', 'isRunning', 'differences', 'owed', 'comparedAt', 'error'],
      },
      run: {
        about: 'Compare a day, again or for the first time',
        call: `POST ${RECONCILIATION}/run`,
        options: ['environment', 'day!', 'channel', 'reason'],
        columns: ['day', 'environment', 'channel'],
      },
      'list-differences': {
        about: 'List the differences, newest first',
        call: `GET ${RECONCILIATION}/differences`,
        options: ['environment', 'state', 'channel', 'kind', 'day', ...PAGE],
        columns: ['detectedAt', 'differenceId', 'channel', 'day', 'kind', 'ours', 'theirs', 'orderId'],
      },
      'close-difference': {
        about: 'Close a difference that was investigated; posts nothing',
        call: `POST ${RECONCILIATION}/differences/:differenceId/close`,
        options: ['reason!'],
        confirm: true,
      },
    },
  },
};
