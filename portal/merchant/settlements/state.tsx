import type { SettlementStatus } from '../../../src/settlements/states.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { SettlementRow } from '../routes.ts';
import { STATES } from './text.ts';

const TONES: Record<SettlementStatus, Tone> = {
  REQUESTED: 'info',
  APPROVED: 'info',
  PROCESSING: 'info',
  COMPLETED: 'good',
  FAILED: 'bad',
  REJECTED: 'bad',
  CANCELLED: 'quiet',
};

/** The status of a settlement in words. */
export function SettlementState({ status }: Pick<SettlementRow, 'status'>) {
  return <Badge tone={TONES[status]}>{STATES[status]}</Badge>;
}
