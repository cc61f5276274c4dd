import { Link } from '@tanstack/react-router';

import { Note, type Tone } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { formatBirr, formatCount, formatDay } from '../../ui/format.ts';
import { List } from '../../ui/list.tsx';
import { KINDS, SettlementState } from '../../ui/settlement-state.tsx';
import { Time } from '../../ui/time.tsx';
import { Timeline } from '../../ui/timeline.tsx';
import { toast } from '../../ui/toast.tsx';
import { KINDS as ENTRY_KINDS } from '../balance/text.ts';
import { CancelButton } from '../cancel.tsx';
import { useMember } from '../member.ts';
import { birr } from '../quote.tsx';
import { useChange, useRead, type SettlementRow } from '../routes.ts';
import { ExpectedDays } from './days.tsx';
import { text } from './text.ts';

const TONES: Readonly<Record<string, Tone>> = {
  'bank.credited': 'good',
  'review.approved': 'good',
  'bank.failed': 'bad',
  'bank.returned': 'bad',
  'review.rejected': 'bad',
  'settlement.overdue': 'warn',
  'expected_dates.changed': 'warn',
};

/** A settlement beside the list, with its statement. */
export function SettlementDrawer({ settlementId, onClose }: { settlementId: string; onClose: () => void }) {
  const query = useRead('GET /api/checkout/settlement/:settlementId', { params: { settlementId } });
  return (
    <Drawer title={query.data?.data.requestId ?? '…'} onClose={onClose}>
      <Loaded query={query}>
        {({ data }) => (
          <>
            <div className="flex flex-wrap items-center gap-3">
              <span className="text-2xl font-semibold tabular-nums">{birr(data.amount)}</span>
              <SettlementState status={data.status} />
            </div>
            {data.failure && <Note tone="bad">{data.failure.message}</Note>}
            <div className="flex flex-wrap gap-2">
              <Link to="/balance" search={{ resourceId: settlementId }} className={buttonStyle()}>
                {text.entries}
              </Link>
              {data.status === 'REQUESTED' && <Cancel settlementId={settlementId} />}
            </div>
            <ExpectedDays days={data} />
            <SettlementFacts settlement={data} />
            <Section title={text.timeline}>
              <Timeline
                items={data.timeline.map(({ at, kind }, index) => ({
                  id: `${index}`,
                  at,
                  title: KINDS[kind as keyof typeof KINDS],
                  tone: TONES[kind] ?? 'quiet',
                }))}
              />
            </Section>
            <Statement settlementId={settlementId} />
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

function SettlementFacts({ settlement }: { settlement: SettlementRow }) {
  const { bankAccount, bankReference, sentAt, creditedOn, returnedAt } = settlement;
  return (
    <Facts
      rows={{
        [text.fee]: birr(settlement.fee),
        [text.feeTax]: birr(settlement.feeTax),
        [text.totalDebit]: birr(settlement.totalDebit),
        [text.bankAccount]: `${bankAccount.bankCode} ${bankAccount.accountNumber}, ${bankAccount.accountName}`,
        [text.bankReference]: bankReference && <Code value={bankReference} name={text.bankReference} />,
        [text.requestedAt]: <Time at={settlement.requestedAt} seconds />,
        [text.sentAt]: sentAt && <Time at={sentAt} />,
        [text.creditedOn]: creditedOn && formatDay(creditedOn),
        [text.returnedAt]: returnedAt && <Time at={returnedAt} />,
        [text.settlementId]: <Code value={settlement.settlementId} name={text.settlementId} />,
      }}
    />
  );
}

type Total = { type: string; count: number; amount: number };

/** What the balance has moved since the settlement before: opening balance and movements add up to the closing balance. */
function Statement({ settlementId }: { settlementId: string }) {
  const statement = useRead('GET /api/checkout/settlement/:settlementId/statement', {
    params: { settlementId },
    query: { limit: 1 },
  });
  const columns = [
    {
      id: 'type',
      header: text.type,
      cell: ({ type }: Total) => ENTRY_KINDS[type as keyof typeof ENTRY_KINDS],
    },
    { id: 'count', header: text.count, align: 'end', cell: ({ count }: Total) => formatCount(count) },
    {
      id: 'amount',
      header: text.amount,
      align: 'end',
      narrow: 'second',
      cell: ({ amount }: Total) => formatBirr(amount),
    },
  ] as const;
  return (
    <Section title={text.statement}>
      <Loaded query={statement} skeletonRows={3}>
        {({ data }) => (
          <>
            <Facts rows={{ [text.opening]: birr(data.openingBalance) }} />
            <List label={text.statement} columns={columns} rows={data.totals} idOf={({ type }) => type} />
            <Facts rows={{ [text.closing]: birr(data.closingBalance) }} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Cancel({ settlementId }: { settlementId: string }) {
  const { whyNot } = useMember();
  const cancel = useChange('POST /api/checkout/settlement/:settlementId/cancel');
  return (
    <CancelButton
      label={text.cancel}
      question={text.cancelQuestion}
      whyNot={whyNot('settlements:write')}
      change={cancel}
      onConfirm={(close) =>
        cancel.mutate(
          { params: { settlementId }, body: {} },
          {
            onSuccess: () => {
              close();
              toast(text.cancelled);
            },
          },
        )
      }
    />
  );
}
