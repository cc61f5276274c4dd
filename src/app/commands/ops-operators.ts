import { recordAudit } from '../../access/audit.ts';
import { presentOperator } from '../../access/operator-routes.ts';
import {
  createOperator,
  hasOperators,
  listOperators,
  OPERATOR_KEY_DAYS,
  type Operator,
} from '../../access/operators.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../../http/route.ts';
import { UsageError, type Row } from '../../lib/command-line.ts';
import { newId } from '../../lib/ids.ts';
import { callCommand } from './call-route.ts';
import { nothingMore } from './ops-decisions.ts';
import type { OpsCommandDeps, OpsVerb } from './ops-options.ts';

export const staff =
  ({ db }: OpsCommandDeps): OpsVerb =>
  async ({ args }) => {
    nothingMore(args);
    return (await listOperators(db)).map((operator) => operatorRow(presentOperator(operator)));
  };

/** Creates an operator. The first one is an admin, and audited as its own creator. */
export const hire =
  (deps: OpsCommandDeps): OpsVerb =>
  async ({ options, args: [name = '', email = '', role = '', ...more] }) => {
    nothingMore(more, 'Put the name in quotes.');
    if (name.trim() === '' || !/^[^\s@]+@[^\s@]+$/.test(email))
      throw new UsageError('hire needs a name and an e-mail.');
    const input = { name: name.trim(), email, role: readRole(role) };
    if (!(await hasOperators(deps.db))) return hireFirst(deps, input);
    const call = { method: 'POST', path: '/api/ops/operators', body: input };
    return operatorRow((await callCommand(deps, { by: options }, call)).data);
  };

async function hireFirst(
  { runInTransaction, clock }: OpsCommandDeps,
  input: Pick<Operator, 'name' | 'email' | 'role'>,
): Promise<Row> {
  if (input.role !== 'admin') throw new UsageError('There is no operator yet: the first one must be an admin.');
  return runInTransaction(async (tx) => {
    const operator = await createOperator(tx.trx, input);
    const context = { tx, operatorId: operator.id, requestId: newId('req'), at: clock() };
    const about = { resourceType: 'operator', resourceId: operator.id, after: input } as const;
    await recordAudit(context, { action: 'operator.create', ...about, reason: 'The first one' });
    return operatorRow(presentOperator(operator));
  });
}

/** Creates a key for an operator. */
export const createKey =
  (deps: OpsCommandDeps): OpsVerb =>
  async ({ options, args: [operatorId = '', ...more] }) => {
    if (operatorId === '' || more.length > 0) throw new UsageError('Say whose key: key opr_….');
    const days = options.days === undefined ? OPERATOR_KEY_DAYS.default : Number(options.days);
    if (!Number.isInteger(days) || days < 1 || days > OPERATOR_KEY_DAYS.max) {
      throw new UsageError(`--days must be a whole number from 1 to ${OPERATOR_KEY_DAYS.max}, got "${options.days}".`);
    }
    const call = { method: 'POST', path: `/api/ops/operators/${operatorId}/keys`, body: { days } };
    const { secret = null, secretHolders, ...key } = (await callCommand(deps, { by: options }, call)).data;
    return { secret, ...key, secretHolders: [secretHolders].flat().join(', ') };
  };

function readRole(text: string): OperatorRole {
  const role = OPERATOR_ROLES.find((one) => one === text);
  if (role) return role;
  throw new UsageError(`The role must be ${OPERATOR_ROLES.join(', ')}, got "${text}".`);
}

function operatorRow(data: Readonly<Record<string, string | number | boolean | null>>): Row {
  const { active, ...row } = data;
  return { ...(row as Row), active: String(active) };
}
