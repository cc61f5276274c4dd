import { InEnglish } from '../../ui/api-text.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { Drawer } from '../../ui/dialog.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { birr, formatDay, formatDuration, listed } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import type { CommandName } from '../commands.ts';
import { useOperator } from '../operator.ts';
import { Actions, MerchantLine, RecordFacts } from '../parts.tsx';
import type { WorkItem } from '../routes.ts';
import { text as shared } from '../text.ts';
import { Subject, ViewOf, type ViewKind } from '../views.tsx';
import { kindText, text } from './text.ts';
import { What } from './what.tsx';

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What an item is about, where that has a view, which shows its facts and its commands. */
function viewOf({ kind, id, merchantId, detail }: WorkItem): { kind: ViewKind; id: string } | null {
  if (kind === 'DEAD_LETTER' || kind === 'DELIVERY_PAST_DUE') return { kind: 'delivery', id };
  if (kind === 'PROPOSAL') return { kind: 'proposal', id };
  if (kind === 'KYC' && merchantId !== null) return { kind: 'kyc', id: merchantId };
  if (kind === 'BANK_ACCOUNT' && merchantId !== null) return { kind: 'bankAccount', id: merchantId };
  if (kind.startsWith('WITHDRAWAL')) return { kind: 'withdrawal', id };
  if (kind.startsWith('REFUND') && kind !== 'REFUND_OVERPAID') return { kind: 'refund', id };
  if (kind.startsWith('SETTLEMENT')) return { kind: 'settlement', id };
  const transactionId = textOf(detail['transactionId']);
  return kind.startsWith('PAYMENT') && transactionId !== undefined ? { kind: 'transaction', id: transactionId } : null;
}

/** The commands of the other kinds, by the verbs of their links. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, CommandName>>>> = {
  CHANNEL_REQUEST: { approve: 'channel.approve', suspend: 'channel.suspend' },
  CREDENTIALS_PENDING: {
    check: 'channel.check-credentials',
    activate: 'channel.activate-credentials',
    revoke: 'channel.revoke-credentials',
  },
  CREDENTIALS_ENDING: { revoke: 'channel.revoke-credentials' },
  RECONCILIATION: { close: 'reconciliation.close' },
  RECONCILIATION_FAILED: { run: 'reconciliation.run' },
  RECONCILIATION_MISSING: { run: 'reconciliation.run' },
  RECONCILIATION_PENDING: { run: 'reconciliation.run' },
  RECEIPT_UNALLOCATED: { decide: 'receipt.decide' },
  PAYOUT_OVERPAID: { recoveries: 'receipt.record-recovery', decide: 'receipt.decide' },
  REFUND_OVERPAID: { 'refund-recoveries': 'receipt.record-recovery' },
};

/** What the body of a command repeats of its item. */
function bodyOf({ kind, id, environment, detail }: WorkItem): object {
  if (kind === 'CHANNEL_REQUEST') return { environment };
  if (kind === 'PAYOUT_OVERPAID') return id.startsWith('rcp_') ? {} : { withdrawalId: detail['withdrawalId'] ?? id };
  if (kind === 'REFUND_OVERPAID') return { refundId: id };
  return kind.startsWith('RECONCILIATION_') ? { environment } : {};
}

/** What the commands of an item without a view are carried out on, as far as it has an amount, a name or an order. */
function subjectOf({ amount, merchantName, detail }: WorkItem): string | undefined {
  const channel = textOf(detail['channel']);
  const day = textOf(detail['day']);
  const parts = [
    amount !== null && birr(amount),
    merchantName,
    textOf(detail['orderId']),
    channel && channelName(channel),
    day && formatDay(day),
  ];
  return listed(parts) || undefined;
}

/** An item of the queue: its facts and its decision. */
export function ItemDrawer({ item, onClose }: { item: WorkItem; onClose: () => void }) {
  const view = viewOf(item);
  return (
    <Drawer
      key={item.kind + item.id}
      title={item.merchantName === null ? kindText(item.kind) : shared.about(kindText(item.kind), item.merchantName)}
      onClose={onClose}
    >
      <p>
        <What item={item} />
      </p>
      <InEnglish text={item.what} />
      {view ? (
        <ViewOf kind={view.kind} id={view.id} />
      ) : (
        <Subject value={subjectOf(item)}>
          <PlainItem item={item} />
        </Subject>
      )}
    </Drawer>
  );
}

function PlainItem({ item }: { item: WorkItem }) {
  const { operatorId } = useOperator();
  const { kind, links, detail, amount, since, waitingSeconds } = item;
  const entered = detail['createdBy'] === operatorId ? shared.youEntered : undefined;
  return (
    <>
      <Actions temporalUrl={item.temporalUrl}>
        {Object.entries(COMMANDS[kind] ?? {}).map(
          ([verb, name]) =>
            links[verb] !== undefined && (
              <CommandButton
                key={verb}
                name={name}
                address={links[verb]}
                body={bodyOf(item)}
                initial={{ day: textOf(detail['day']) ?? '', channel: textOf(detail['channel']) ?? '' }}
                whyNot={verb === 'activate' ? entered : undefined}
              />
            ),
        )}
      </Actions>
      <Facts
        rows={{
          [text.since]: <Time at={since} seconds />,
          [text.waits]: formatDuration(waitingSeconds),
          [shared.amount]: birr(amount),
          [shared.merchant]: item.merchantId && <MerchantLine of={item} />,
        }}
      />
      <Section title={text.details}>
        <RecordFacts record={detail} />
      </Section>
    </>
  );
}
