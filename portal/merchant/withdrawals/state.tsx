import type { WithdrawalStatus } from '../../../src/withdrawals/states.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { WithdrawalRow } from '../routes.ts';
import { STATES } from './text.ts';

const TONES: Record<WithdrawalStatus, Tone> = {
  PENDING: 'info',
  SUCCESS: 'good',
  FAILED: 'bad',
  REJECTED: 'bad',
  CANCELLED: 'quiet',
  REVERSED: 'warn',
};

/** The status of a withdrawal, and the stage of a pending one, in words. */
export function WithdrawalState({ status, stage }: Pick<WithdrawalRow, 'status' | 'stage'>) {
  return <Badge tone={TONES[status]}>{STATES[stage ?? status]}</Badge>;
}

/** To whom a withdrawal is paid. */
export function destinationText({ destination }: Pick<WithdrawalRow, 'destination'>): string {
  const { phone, bankCode, accountNumber, accountName } = destination;
  return `${accountName}, ${phone ?? `${bankCode} ${accountNumber}`}`;
}
