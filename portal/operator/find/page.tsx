import { Link, useSearch } from '@tanstack/react-router';

import { Badge } from '../../ui/badge.tsx';
import { DELIVERY_TEXTS } from '../../ui/delivery-status.ts';
import { BASES, environment } from '../../ui/environment.ts';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { catalogue } from '../../ui/language.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { STATES as REFUND_STATES } from '../../ui/refund-state.tsx';
import { stringifySearch } from '../../ui/search-params.ts';
import { STATES as SETTLEMENT_STATES } from '../../ui/settlement-state.tsx';
import { Time } from '../../ui/time.tsx';
import { STATES as TRANSACTION_STATES } from '../../ui/transaction-state.tsx';
import { STATES as WITHDRAWAL_STATES } from '../../ui/withdrawal-state.tsx';
import { CommandButton } from '../command-button.tsx';
import { text as merchants } from '../merchants/text.ts';
import { EnvironmentBadge, TemporalLink } from '../parts.tsx';
import { REFRESH_MS, useRead, type Hit } from '../routes.ts';
import { text as shared } from '../text.ts';
import { viewPath } from '../views.tsx';

const text = catalogue({
  help: [
    'Type an id, an order number, a phone, a reference, the host of a receiver, or a part of the name of a merchant.',
    'መለያ፣ የትዕዛዝ ቁጥር፣ ስልክ፣ ማመሳከሪያ፣ የተቀባይ አገልጋይ ስም ወይም የነጋዴ ስም ክፍል ይጻፉ።',
  ],
  helpTitle: ['Search in both environments', 'በሁለቱም አካባቢዎች ይፈልጉ'],
  none: ['Nothing was found.', 'ምንም አልተገኘም።'],
  noneHelp: ['Ids, numbers and hosts must be whole.', 'መለያዎች፣ ቁጥሮችና የአገልጋይ ስሞች ሙሉ መሆን አለባቸው።'],
  what: ['What', 'ምንድን ነው'],
  kind: ['Kind', 'ዓይነት'],
  more: ['Further steps', 'ተጨማሪ እርምጃዎች'],
  label: ['What was found', 'የተገኙት'],
  receiver: ['Receiver', 'ተቀባይ'],
  receipt: ['Receipt', 'የባንክ ገቢ'],
});

const KINDS: Record<Hit['kind'], string> = {
  delivery: shared.delivery,
  merchant: shared.merchant,
  transaction: shared.transaction,
  refund: shared.refund,
  withdrawal: shared.withdrawal,
  settlement: shared.settlement,
  receiver: text.receiver,
  receipt: text.receipt,
};

/** The screens of hits. */
const PATHS: Record<Hit['kind'], (hit: Hit) => string> = {
  delivery: ({ id }) => viewPath('delivery', id),
  merchant: ({ id }) => viewPath('merchant', id),
  receipt: ({ id }) => `/receipts${stringifySearch({ open: id })}`,
  transaction: ({ id }) => viewPath('transaction', id),
  refund: ({ id }) => viewPath('refund', id),
  withdrawal: ({ id }) => viewPath('withdrawal', id),
  settlement: ({ id }) => viewPath('settlement', id),
  receiver: ({ title }) => `/deliveries${stringifySearch({ receiverHost: title })}`,
};

/** A link to the screen of a hit, in its environment. */
function HitLink({ hit }: { hit: Hit }) {
  const path = PATHS[hit.kind](hit);
  const of = hit.environment ?? environment;
  const style = 'font-semibold text-brand hover:underline';
  if (of !== environment) {
    return (
      <a href={BASES[of] + path} className={style}>
        {hit.title}
      </a>
    );
  }
  return (
    <Link to={path as '/deliveries'} className={style}>
      {hit.title}
    </Link>
  );
}

/** What a hit allows at once. */
function HitActions({ hit }: { hit: Hit }) {
  return (
    <div className="flex flex-wrap gap-2">
      {hit.kind === 'delivery' && hit.status === 'FAILED' && (
        <CommandButton
          name="delivery.resend"
          of={hit.title}
          address={`/api/ops/webhooks/deliveries/${hit.id}/resend`}
        />
      )}
      <TemporalLink url={hit.temporalUrl} />
    </div>
  );
}

const HIT_STATES: Partial<Record<Hit['kind'], Readonly<Record<string, string>>>> = {
  delivery: DELIVERY_TEXTS,
  transaction: TRANSACTION_STATES,
  refund: REFUND_STATES,
  withdrawal: WITHDRAWAL_STATES,
  settlement: SETTLEMENT_STATES,
  merchant: { ACTIVE: merchants.ACTIVE, SUSPENDED: merchants.SUSPENDED },
};

const COLUMNS: readonly Column<Hit>[] = [
  { header: text.what, cell: (hit) => <HitLink hit={hit} /> },
  {
    header: shared.status,
    narrow: 'second',
    cell: ({ kind, status }) => (
      <Badge tone={status === 'FAILED' ? 'bad' : 'quiet'}>{HIT_STATES[kind]?.[status] ?? status}</Badge>
    ),
  },
  { header: shared.merchant, cell: ({ merchantName }) => merchantName },
  { header: shared.environment, narrow: 'second', cell: (hit) => <EnvironmentBadge of={hit.environment} /> },
  { header: text.kind, narrow: 'none', cell: ({ kind }) => <span className="whitespace-nowrap">{KINDS[kind]}</span> },
  { header: shared.createdAt, cell: ({ at }) => <Time at={at} /> },
  { header: text.more, cell: (hit) => <HitActions hit={hit} /> },
];

/** Everything that belongs to an id, a number or a name, in both environments. */
export function Find() {
  const { q = '' }: { q?: string } = useSearch({ strict: false });
  const found = useRead('GET /api/ops/search', { query: { q } }, { enabled: q !== '', everyMs: REFRESH_MS });
  return (
    <Page title={q === '' ? shared.find : shared.about(shared.find, q)}>
      <div className="card">
        {q === '' ? (
          <Empty title={text.helpTitle}>{text.help}</Empty>
        ) : (
          <Loaded query={found}>
            {({ data: hits }) =>
              hits.length === 0 ? (
                <Empty title={text.none}>{text.noneHelp}</Empty>
              ) : (
                <List label={text.label} columns={COLUMNS} rows={hits} idOf={({ kind, id }) => `${kind}-${id}`} />
              )
            }
          </Loaded>
        )}
      </div>
    </Page>
  );
}
