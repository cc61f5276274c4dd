import { Model } from 'objection';

/** A row of `merchant` (migrations/0001). */
export class MerchantRow extends Model {
  static override readonly tableName = 'merchant';

  declare id: string;
  declare name: string;
  declare status: 'ACTIVE' | 'SUSPENDED';
  declare kycStatus: KycStatus;
  declare createdAt: Date;
}

export type KycStatus = 'NOT_STARTED' | 'SUBMITTED' | 'UNDER_REVIEW' | 'APPROVED' | 'REJECTED' | 'MORE_INFO_NEEDED';
