import { amharicOf } from '../../ui/api-meanings.ts';
import { ApiText } from '../../ui/api-text.tsx';
import { Note, type Tone } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { birr, formatBirr, formatCount, formatDay } from '../../ui/format.ts';
import { List } from '../../ui/list.tsx';
import { FAILURES, KINDS, SettlementState } from '../../ui/settlement-state.tsx';
import { Time } from '../../ui/time.tsx';
import { KINDS as ENTRY_KINDS } from '../balance/text.ts';
import { CancelPayout, PayoutDrawer } from '../payout.tsx';
import { text as shared } from '../quote.tsx';
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
    <PayoutDrawer
      id={settlementId}
      query={query}
      kinds={KINDS}
      tones={TONES}
      state={({ status }) => <SettlementState status={status} />}
      notes={({ failure }) =>
        failure && (
          <Note tone="bad">
            {FAILURES[failure.code as keyof typeof FAILURES]}{' '}
            <ApiText text={failure.message} amharic={amharicOf(failure.messageCode)} />
          </Note>
        )
      }
      actions={({ status }) => status === 'REQUESTED' && <Cancel settlementId={settlementId} />}
      facts={(data) => (
        <>
          <ExpectedDays days={data} />
          <SettlementFacts settlement={data} />
        </>
      )}
      onClose={onClose}
    >
      <Statement settlementId={settlementId} />
    </PayoutDrawer>
  );
}

function SettlementFacts({ settlement }: { settlement: SettlementRow }) {
  const { bankAccount, bankReference, sentAt, creditedOn, returnedAt } = settlement;
  return (
    <Facts
      rows={{
        [shared.fee]: birr(settlement.fee),
        [shared.feeTax]: birr(settlement.feeTax),
        [shared.totalDebit]: birr(settlement.totalDebit),
        [text.bankAccount]: `${bankAccount.bankCode} ${bankAccount.accountNumber}, ${bankAccount.accountName}`,
        [text.bankReference]: bankReference && <Code value={bankReference} name={text.bankReference} />,
        [shared.requestedAt]: <Time at={settlement.requestedAt} seconds />,
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
    { header: text.type, cell: ({ type }: Total) => ENTRY_KINDS[type as keyof typeof ENTRY_KINDS] },
    { header: text.count, align: 'end', cell: ({ count }: Total) => formatCount(count) },
    {
      header: shared.amountInBirr,
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
  const change = useChange('POST /api/checkout/settlement/:settlementId/cancel');
  const input = { params: { settlementId }, body: {} };
  return <CancelPayout text={text} permission="settlements:write" change={change} input={input} />;
}
