import { isDeepStrictEqual } from 'node:util';

import type { Environment } from '../lib/scope.ts';
import type { MerchantAction } from './people.ts';
import type { AuditedFields, RouteAuth, RouteInput } from './route.ts';

/** A row of the merchant's audit log: a change by a key or a person. */
export type AuditRow = {
  merchantId: string;
  /** null: in both. */
  environment: Environment | null;
  /** key_… or usr_… */
  actor: string;
  action: MerchantAction;
  resourceId: string | null;
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>> | null;
  address: string;
  requestId: string;
  occurredAt: Date;
};

type Request = Pick<RouteInput<RouteAuth, unknown, unknown, unknown>, 'caller' | 'requestId' | 'address' | 'at'> & {
  params?: unknown;
};

/**
 * The row of a change; null without a change (`fields` is null), and for operators, customers and people without a merchant.
 * It is about the id in the path unless the fields name another.
 */
export function auditRow(
  { caller, requestId, address, at, params }: Request,
  action: MerchantAction,
  fields: AuditedFields | null = {},
): AuditRow | null {
  if (!fields || !caller || caller.kind === 'client' || caller.kind === 'operator') return null;
  const { merchantId } = caller;
  if (merchantId === null) return null;
  const environment = 'environment' in caller && fields.environment !== null ? caller.environment : null;
  const actor = caller.kind === 'key' ? caller.keyId : caller.userId;
  const [idOfPath = null] = Object.values((params ?? {}) as Record<string, string>);
  const { resourceId = idOfPath, before = null, after = null } = fields;
  const by = { actor, address, requestId, occurredAt: at };
  return { merchantId, environment, action, resourceId, before, after, ...by };
}

/** The fields that differ, before and after; null: none does. */
export function changedFields<Fields extends object>(before: Fields, after: Fields): AuditedFields | null {
  const names = Object.keys(after) as (keyof Fields)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (changed.length === 0) return null;
  const pick = (of: Fields) => Object.fromEntries(changed.map((name) => [name, of[name]]));
  return { before: pick(before), after: pick(after) };
}
