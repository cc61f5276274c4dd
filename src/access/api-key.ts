import { Model } from 'objection';

import type { Scope } from '../http/route.ts';
import type { Environment } from '../lib/scope.ts';
import type { KeyKind } from './key-format.ts';

/** A row of `api_key`. */
export class ApiKey extends Model {
  static override readonly tableName = 'api_key';

  declare id: string;
  declare merchantId: string;
  declare environment: Environment;
  declare kind: KeyKind;
  declare name: string;
  declare prefix: string;
  declare lastFour: string | null;
  declare secretHash: Buffer;
  /** Of the pepper it is hashed under; null: unknown. */
  declare pepperId: string | null;
  declare scopes: Scope[];
  declare ipRanges: string[];
  declare expiresAt: Date | null;
  declare revokedAt: Date | null;
  declare rotatedTo: string | null;
  /** opr_…, who invited the merchant to create it; null: not created through an invitation. */
  declare createdBy: string | null;
  declare lastUsedAt: Date | null;
  declare createdAt: Date;
}
