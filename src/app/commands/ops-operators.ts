import { recordAudit } from '../../access/audit.ts';
import { presentOperator } from '../../access/operator-routes.ts';
import {
  createOperator,
  createOperatorKey,
  hasActiveAdmin,
  listOperators,
  type Operator,
} from '../../access/operators.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../../http/route.ts';
import { UsageError, type Row } from '../../lib/command-line.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lock } from '../../lib/lock.ts';
import { callCommand } from './call-route.ts';
import { nothingMore } from './ops-decisions.ts';
import type { OpsCommandDeps, OpsVerb } from './ops-options.ts';

export const staff =
  ({ db }: OpsCommandDeps): OpsVerb =>
  async ({ args }) => {
    nothingMore(args);
    return (await listOperators(db)).map((operator) => operatorRow(presentOperator(operator)));
  };

/** Creates an operator, with an invitation to create a key. The first admin is audited as their own creator and gets a key. */
export const hire =
  (deps: OpsCommandDeps): OpsVerb =>
  async ({ options, args: [name = '', email = '', role = '', ...more] }) => {
    nothingMore(more, 'Put the name in quotes.');
    if (name.trim() === '' || !/^[^\s@]+@[^\s@]+$/.test(email))
      throw new UsageError('hire needs a name and an e-mail.');
    const input = { name: name.trim(), email, role: readRole(role) };
    if (!(await hasActiveAdmin(deps.db))) return hireFirst(deps, input);
    const call = { method: 'POST', path: '/api/ops/operators', body: input };
    return operatorRow((await callCommand(deps, { by: options }, call)).data);
  };

async function hireFirst(
  { runInTransaction, clock, pepper }: OpsCommandDeps,
  input: Pick<Operator, 'name' | 'email' | 'role'>,
): Promise<Row> {
  if (input.role !== 'admin') throw new UsageError('There is no active admin: create one first.');
  return runInTransaction(async (tx) => {
    await lock(tx.trx, 'operators', 'all');
    if (await hasActiveAdmin(tx.trx)) throw new AppError('INVALID_STATE', 'Another admin was created meanwhile.');
    const operator = await createOperator(tx.trx, input);
    const context = { tx, operatorId: operator.id, requestId: newId('req'), at: clock() };
    const about = { resourceType: 'operator', resourceId: operator.id, after: input } as const;
    await recordAudit(context, { action: 'operator.create', ...about, reason: 'The first one' });
    const { secret } = await createOperatorKey({ trx: tx.trx, pepper, clock }, { operatorId: operator.id });
    return { ...operatorRow(presentOperator(operator)), secret };
  });
}

/** Invites an operator to create a key of their own. */
export const inviteAgain =
  (deps: OpsCommandDeps): OpsVerb =>
  async ({ options, args: [operatorId = '', ...more] }) => {
    if (operatorId === '' || more.length > 0) throw new UsageError('Name the operator: invite opr_….');
    const call = { method: 'POST', path: `/api/ops/operators/${operatorId}/invitations` };
    return (await callCommand(deps, { by: options }, call)).data;
  };

function readRole(text: string): OperatorRole {
  const role = OPERATOR_ROLES.find((one) => one === text);
  if (role) return role;
  throw new UsageError(`The role must be ${OPERATOR_ROLES.join(', ')}, got "${text}".`);
}

type OperatorData = Readonly<Record<string, string | number | boolean | null>> & {
  invitation?: { token: string; invitationId: string; expiresAt: string };
};

function operatorRow({ active, invitation, ...row }: OperatorData): Row {
  return { ...(row as Row), active: String(active), ...(invitation && { token: invitation.token }) };
}
