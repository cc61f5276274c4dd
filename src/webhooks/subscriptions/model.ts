import { Model } from 'objection';

import type { Environment } from '../../lib/scope.ts';

/** A row of webhook_subscription. `secret`, `previousSecret` and `headers` are encrypted with the row's id. */
export class SubscriptionRow extends Model {
  static override tableName = 'webhook_subscription';

  declare id: string;
  declare merchantId: string;
  declare environment: Environment;
  declare url: string;
  declare eventTypes: string[];
  declare active: boolean;
  declare description: string;
  declare signatureEncoding: 'base64' | 'hex';
  declare headers: Buffer | null;
  declare headerNames: string[];
  declare secret: Buffer;
  declare secretHint: string;
  declare previousSecret: Buffer | null;
  declare previousSecretExpiresAt: Date | null;
  declare verifiedAt: Date | null;
  declare consecutiveFailures: number;
  declare throttledUntil: Date | null;
  declare deletedAt: Date | null;
  declare createdAt: Date;
}
