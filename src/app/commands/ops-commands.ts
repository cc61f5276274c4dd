import { listAudit } from '../../access/audit.ts';
import { listWorkItems, REVIEW_ITEMS, STALLED_ITEMS } from '../../backoffice/work-queue.ts';
import { runNoun, UsageError, type Row } from '../../lib/command-line.ts';
import { DAY_MS } from '../../lib/dates.ts';
import { toBirr } from '../../lib/money.ts';
import type { Page } from '../../lib/pagination.ts';
import type { Environment } from '../../lib/scope.ts';
import { listMerchants, presentMerchant } from '../../merchants/operations.ts';
import { callApi, channelOr, show } from './ops-api.ts';
import {
  accept,
  approve,
  changeMerchantStatus,
  nothingMore,
  recordBankResult,
  reject,
  resolve,
} from './ops-decisions.ts';
import { holidays } from './ops-holidays.ts';
import { hire, inviteAgain, staff } from './ops-operators.ts';
import { OPTIONS, type OpsCommandDeps, type OpsVerb } from './ops-options.ts';

/** What --help prints. */
export const OPS_USAGE = `meskot ops queue [--kind KIND,…] [--merchant mrc_…] [--live]      what waits for a person
meskot ops stuck [--live]                                         what should have gone on by itself
meskot ops show wd_… | stl_… | txn_… | mrc_…                      all there is to know before deciding
meskot ops approve wd_… | stl_… | bac_… [--reason TEXT]           a withdrawal, settlement, bank account
meskot ops reject wd_… | stl_… | bac_… --reason TEXT
meskot ops approve mrc_… --submission N [--reason TEXT]           what it handed in to be verified; the queue says N
meskot ops reject mrc_… --submission N --reason TEXT
meskot ops approve | suspend mrc_…/CHANNEL [--reason TEXT]         whether a merchant may use a channel
meskot ops resolve wd_… --as completed|failed --reference TEXT --reason TEXT [--paid 99.50]   found at the provider
meskot ops accept txn_… --attempt pat_… [--reason TEXT]           held money is the merchant's
meskot ops reject txn_… --attempt pat_… --reason TEXT --reference TEXT   it went back to the customer
meskot ops sent stl_… [--reference TEXT]                          the transfer was given to the bank
meskot ops credited stl_… --reference TEXT [--on 2027-10-15] [--amount 99.50]   the bank has credited it, today unless said
meskot ops failed stl_… --reason TEXT                             the bank has not
meskot ops returned stl_… --reference TEXT --reason TEXT          the bank has sent back what it had credited
meskot ops book-credit | dismiss-credit stl_… --reason TEXT       the bank credited what had failed; or it did not
meskot ops merchants                                              the newest first
meskot ops suspend mrc_… --reason TEXT
meskot ops resume mrc_… --reason TEXT
meskot ops holidays [--year 2027]
meskot ops holidays add 2027-10-15 NAME [--memorial]
meskot ops holidays move hol_… 2027-10-16
meskot ops holidays on | off | confirm | remove hol_…
meskot ops audit [--resource ID] [--merchant mrc_…] [--days 1-93]
meskot ops staff                                                  the operators
meskot ops hire NAME E-MAIL viewer | support | finance | admin    without an active admin: the first one, with a key
meskot ops invite opr_…                                           another invitation for who has lost the key
meskot ops api GET | POST | … /api/ops/… ['{…}' | FILE]           any route of /api/ops, which /docs lists
--operator opr_… says who acts; on a machine with demo data its operator does. What is live is touched, and listed,
only with --live, but by "api". --json prints JSON.
`;

/** What a list shows of each; --json has the rest. */
const COLUMNS = {
  queue: ['since', 'kind', 'id', 'merchantId', 'amount', 'what'],
  stalled: ['since', 'kind', 'id', 'merchantId', 'what'],
  merchants: ['merchantId', 'name', 'status', 'kycStatus', 'createdAt'],
  holidays: ['holidayId', 'date', 'name', 'kind', 'confirmed', 'active'],
  audit: ['at', 'operator', 'action', 'resourceId', 'reason'],
  staff: ['operatorId', 'name', 'email', 'role', 'active'],
} as const;

const ROWS_MAX = 100;
const AUDIT_DAYS = { default: 30, max: 93 } as const;

/** Runs `meskot ops …`; `args` without the two words. Exit code: 0 done, 1 refused, 2 wrong usage, 3 not allowed, 4 not found. */
export async function runOpsCommand(args: readonly string[], deps: OpsCommandDeps): Promise<number> {
  const verbs = new Map<string, OpsVerb>([
    ['queue', list(deps, REVIEW_ITEMS)],
    ['stuck', list(deps, STALLED_ITEMS)],
    ['show', show(deps)],
    ['approve', channelOr(deps, 'approve', approve(deps))],
    ['reject', reject(deps)],
    ['accept', accept(deps)],
    ['resolve', resolve(deps)],
    ['sent', recordBankResult(deps, 'sent')],
    ['credited', recordBankResult(deps, 'credited')],
    ['failed', recordBankResult(deps, 'failed')],
    ['returned', recordBankResult(deps, 'returned')],
    ['book-credit', recordBankResult(deps, 'book-credit')],
    ['dismiss-credit', recordBankResult(deps, 'dismiss-credit')],
    ['merchants', merchants(deps)],
    ['suspend', channelOr(deps, 'suspend', changeMerchantStatus(deps, 'suspend'))],
    ['resume', changeMerchantStatus(deps, 'resume')],
    ['holidays', holidays(deps)],
    ['audit', audit(deps)],
    ['staff', staff(deps)],
    ['hire', hire(deps)],
    ['invite', inviteAgain(deps)],
    ['api', callApi(deps)],
  ]);
  return runNoun({ name: 'ops', usage: OPS_USAGE, options: OPTIONS, verbs, columns: COLUMNS, write: deps.write }, args);
}

const FIRST_PAGE: Page = { page: 1, limit: ROWS_MAX, after: null };

const list =
  (deps: OpsCommandDeps, source: typeof REVIEW_ITEMS): OpsVerb =>
  async ({ options, args }) => {
    nothingMore(args);
    const kinds = options.kind?.split(',');
    const unknown = kinds?.find((kind) => !source.kinds.includes(kind));
    if (unknown !== undefined) throw new UsageError(`--kind must be of ${source.kinds.join(', ')}, got "${unknown}".`);
    const read = (environment: Environment | undefined, page: Page) =>
      listWorkItems(deps.db, source, {
        filter: { kinds, merchantId: options.merchant, environment },
        page,
        at: deps.clock(),
      });
    const { rows, pagination } = await read(options.live ? 'live' : 'sandbox', FIRST_PAGE);
    sayIfCut(deps, rows, pagination.total);
    if (!options.live) {
      const everywhere = await read(undefined, { ...FIRST_PAGE, limit: 1 });
      const live = everywhere.pagination.total - pagination.total;
      if (live > 0) deps.write(`These are the sandbox's; ${live} more are live: add --live.\n`, 'aside');
    }
    return rows.map(({ kind, id, merchantId, since, amountSantim, what, detail, workflowId, ...row }): Row => ({
      since: since.toISOString(),
      kind,
      id,
      merchantId,
      environment: row.environment,
      amount: amountSantim === null ? null : toBirr(amountSantim),
      what,
      detail: JSON.stringify(detail),
      workflowId,
    }));
  };

/** A list that ends early says so. */
function sayIfCut({ write }: Pick<OpsCommandDeps, 'write'>, shown: readonly unknown[], total: number): void {
  if (total > shown.length) write(`${shown.length} of ${total} are shown; "meskot ops api GET" reads on.\n`, 'aside');
}

const merchants =
  ({ db }: OpsCommandDeps): OpsVerb =>
  async ({ args }) => {
    nothingMore(args);
    return (await listMerchants(db)).map(presentMerchant);
  };

const audit =
  (deps: OpsCommandDeps): OpsVerb =>
  async ({ options, args }) => {
    nothingMore(args);
    const days = options.days === undefined ? AUDIT_DAYS.default : Number(options.days);
    if (!Number.isInteger(days) || days < 1 || days > AUDIT_DAYS.max) {
      throw new UsageError(`--days must be a whole number from 1 to ${AUDIT_DAYS.max}, got "${options.days}".`);
    }
    const until = deps.clock();
    const range = { startDate: '', endDate: '', from: new Date(until.getTime() - days * DAY_MS), until };
    const filter = { range, resourceId: options.resource, merchantId: options.merchant };
    const { rows, pagination } = await listAudit(deps.db, filter, FIRST_PAGE);
    sayIfCut(deps, rows, pagination.total);
    return rows.map(({ id, occurredAt: at, operatorName, before, after, ...row }) => ({
      auditId: id,
      at: at.toISOString(),
      operator: operatorName,
      ...row,
      before: JSON.stringify(before),
      after: JSON.stringify(after),
    }));
  };
