import { recordAudit } from '../../access/audit.ts';
import { addOperator, createOperatorKeyFor } from '../../access/manage-operators.ts';
import {
  createOperator,
  hasOperators,
  listOperators,
  OPERATOR_KEY_DAYS,
  type Operator,
} from '../../access/operators.ts';
import { presentOperator, presentOperatorKey } from '../../backoffice/present.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../../http/route.ts';
import { UsageError, type Row } from '../../lib/command-line.ts';
import { newId } from '../../lib/ids.ts';
import { act, nothingMore } from './ops-decisions.ts';
import type { OpsCommandDeps, OpsVerb } from './ops-options.ts';

export const staff =
  ({ db }: OpsCommandDeps): OpsVerb =>
  async ({ args }) => {
    nothingMore(args);
    return (await listOperators(db)).map(printed);
  };

/** Adds an operator. The first of all nobody can allow: an admin, who is noted as having added itself. */
export const hire =
  (deps: OpsCommandDeps): OpsVerb =>
  async ({ options, args: [name = '', email = '', role = '', ...more] }) => {
    nothingMore(more, 'Put the name in quotes.');
    if (name.trim() === '' || !/^[^\s@]+@[^\s@]+$/.test(email))
      throw new UsageError('hire needs a name and an e-mail.');
    const input = { name: name.trim(), email, role: readRole(role) };
    if (!(await hasOperators(deps.db))) return printed(await hireFirst(deps, input));
    return act(deps, { options, action: 'operator.create' }, async (context) =>
      printed(await addOperator(context, input)),
    );
  };

async function hireFirst(
  { runInTransaction, clock }: OpsCommandDeps,
  input: Pick<Operator, 'name' | 'email' | 'role'>,
): Promise<Operator> {
  if (input.role !== 'admin') throw new UsageError('There is no operator yet: the first one must be an admin.');
  return runInTransaction(async (tx) => {
    const operator = await createOperator(tx.trx, input);
    const context = { tx, operatorId: operator.id, requestId: newId('req'), at: clock() };
    const about = { resourceType: 'operator', resourceId: operator.id, after: input } as const;
    await recordAudit(context, { action: 'operator.create', ...about, reason: 'The first one' });
    return operator;
  });
}

/** Makes a key for an operator; an operator without any may be given one by itself, on the machine. */
export const createKey =
  (deps: OpsCommandDeps): OpsVerb =>
  async ({ options, args: [operatorId = '', ...more] }) => {
    if (operatorId === '' || more.length > 0) throw new UsageError('Say whose key: key opr_….');
    const days = options.days === undefined ? OPERATOR_KEY_DAYS.default : Number(options.days);
    if (!Number.isInteger(days) || days < 1 || days > OPERATOR_KEY_DAYS.max) {
      throw new UsageError(`--days must be a whole number from 1 to ${OPERATOR_KEY_DAYS.max}, got "${options.days}".`);
    }
    return act(deps, { options, action: 'operator-key.create' }, async (context) => {
      const made = await createOperatorKeyFor(context, { operatorId, days }, deps);
      return { secret: made.secret, ...presentOperatorKey(made.key), secretHolders: made.key.secretHolders.join(', ') };
    });
  };

function readRole(text: string): OperatorRole {
  const role = OPERATOR_ROLES.find((one) => one === text);
  if (role) return role;
  throw new UsageError(`The role must be ${OPERATOR_ROLES.join(', ')}, got "${text}".`);
}

function printed(operator: Operator): Row {
  const { active, ...row } = presentOperator(operator);
  return { ...row, active: String(active) };
}
