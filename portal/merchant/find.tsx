import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';

import { addressOf, CallFailure } from '../ui/call.ts';
import { lastDays } from '../ui/days.ts';
import { Dialog } from '../ui/dialog.tsx';
import { base } from '../ui/environment.ts';
import { Failed } from '../ui/feedback.tsx';
import { birr, formatInstant } from '../ui/format.ts';
import { catalogue } from '../ui/language.ts';
import type { RefundRow } from '../ui/refund-state.tsx';
import { useSettled } from '../ui/use-settled.ts';
import { useMember } from './member.ts';
import { call, type EventRow, type SettlementRow, type TransactionRow, type WithdrawalRow } from './routes.ts';

const text = catalogue({
  title: ['Search', 'ፍለጋ'],
  label: ['A screen, an order number, an id or a reference', 'ገጽ፣ የትዕዛዝ ቁጥር፣ መለያ ወይም ማጣቀሻ'],
  hint: [
    'Order numbers, customers and references of the last 90 days; ids of any time. Choose with the arrow keys, open with Enter.',
    'ያለፉት 90 ቀናት የትዕዛዝ ቁጥሮች፣ ደንበኞችና ማጣቀሻዎች፤ የማንኛውም ጊዜ መለያዎች። በቀስት ቁልፎች ይምረጡ፣ በEnter ይክፈቱ።',
  ],
  screen: ['Screen', 'ገጽ'],
  transaction: ['Transaction', 'ግብይት'],
  refund: ['Refund', 'ተመላሽ ክፍያ'],
  withdrawal: ['Withdrawal', 'ወጪ'],
  settlement: ['Settlement', 'ወደ ባንክ ዝውውር'],
  event: ['Event', 'ክስተት'],
  results: (count: number) => [count === 1 ? '1 result' : `${count} results`, `${count} ውጤቶች`],
  none: [
    'Nothing was found. Order numbers and names may be parts; ids and references must be whole.',
    'ምንም አልተገኘም። የትዕዛዝ ቁጥሮችና ስሞች በከፊል ሊሆኑ ይችላሉ፤ መለያዎችና ማጣቀሻዎች ሙሉ መሆን አለባቸው።',
  ],
});

/** A screen or a resource that was found. `path`: its address below the environment's. */
type Hit = { path: string; kind: string; name: string; detail: string };

/** Shorter texts are compared with the names of screens only. */
const CHARACTERS_MIN = 3;
const EACH_MAX = 5;
const DAYS = 90;

const detailOf = (amount: number, at: string): string => `${birr(amount)} · ${formatInstant(at)}`;
const transactionHit = ({ transactionId, checkoutOrderNo, amount, createdAt }: TransactionRow): Hit => ({
  path: `/transactions/${transactionId}`,
  kind: text.transaction,
  name: checkoutOrderNo,
  detail: detailOf(amount, createdAt),
});
const refundHit = ({ transactionId, reference, amount, requestedAt }: RefundRow): Hit => ({
  path: `/transactions/${transactionId}`,
  kind: text.refund,
  name: reference,
  detail: detailOf(amount, requestedAt),
});
const withdrawalHit = ({ withdrawalRequestId, requestId, amount, requestedAt }: WithdrawalRow): Hit => ({
  path: addressOf('/withdrawals', { query: { open: withdrawalRequestId } }),
  kind: text.withdrawal,
  name: requestId,
  detail: detailOf(amount, requestedAt),
});
const settlementHit = ({ settlementId, requestId, amount, requestedAt }: SettlementRow): Hit => ({
  path: addressOf('/settlements', { query: { open: settlementId } }),
  kind: text.settlement,
  name: requestId,
  detail: detailOf(amount, requestedAt),
});
const eventHit = ({ eventId, event, resourceId, createdAt }: EventRow): Hit => ({
  path: addressOf('/events', { query: { open: eventId } }),
  kind: text.event,
  name: event,
  detail: `${resourceId} · ${formatInstant(createdAt)}`,
});

const orNone = (error: unknown): [] => {
  if (error instanceof CallFailure && error.status === 404) return [];
  throw error;
};

type May = (permission: string) => boolean;

/** The resource with an id, as far as the person may read it; null: the text is no such id. */
function findById(wanted: string, may: May): Promise<Hit[]> | null {
  const one = <Row,>(read: Promise<{ data: Row }>, hitOf: (row: Row) => Hit): Promise<Hit[]> =>
    read.then(({ data }) => [hitOf(data)], orNone);
  const prefix = /^([a-z]+)_\w{26}$/.exec(wanted)?.[1];
  if (prefix === 'txn') {
    return one(call('GET /api/checkout/txns/:transactionId', { params: { transactionId: wanted } }), transactionHit);
  }
  if (prefix === 'evt') {
    return one(call('GET /api/checkout/webhooks/events/:eventId', { params: { eventId: wanted } }), eventHit);
  }
  if (prefix === 'rfd' && may('refunds:read')) {
    const params = { refundId: wanted };
    return one(call('GET /api/checkout/refunds/:refundId', { params }), refundHit);
  }
  if (prefix === 'wd' && may('withdrawals:read')) {
    const params = { withdrawalId: wanted };
    return one(call('GET /api/checkout/withdrawal/:withdrawalId', { params }), withdrawalHit);
  }
  if (prefix === 'stl' && may('settlements:read')) {
    return one(call('GET /api/checkout/settlement/:settlementId', { params: { settlementId: wanted } }), settlementHit);
  }
  return null;
}

/** The resources with an order number, a reference or a customer, as far as the person may read them. */
async function findByText(wanted: string, may: May): Promise<Hit[]> {
  const query = { ...lastDays(DAYS), search: wanted, page: 1, limit: EACH_MAX };
  const payments = { ...query, status: 'ALL', currency: 'ETB' };
  const found = await Promise.all([
    call('GET /api/checkout/txns/get_all_txns', { query: payments }).then(({ data }) => data.map(transactionHit)),
    may('refunds:read') ? call('GET /api/checkout/refunds', { query }).then(({ data }) => data.map(refundHit)) : [],
    may('withdrawals:read')
      ? call('GET /api/checkout/withdrawal', { query }).then(({ data }) => data.map(withdrawalHit))
      : [],
    may('settlements:read')
      ? call('GET /api/checkout/settlement', { query }).then(({ data }) => data.map(settlementHit))
      : [],
  ]);
  return found.flat();
}

type Screen = { to: string; label: string };

/** Finds screens by their name, and transactions, withdrawals, settlements and events by what identifies them. */
export function Find({ screens, onClose }: { screens: readonly Screen[]; onClose: () => void }) {
  const { may } = useMember();
  const [typed, setTyped] = useState('');
  const trimmed = typed.trim();
  const wanted = useSettled(trimmed);
  const found = useQuery({
    queryKey: ['find', wanted],
    queryFn: () => findById(wanted, may) ?? findByText(wanted, may),
    enabled: wanted.length >= CHARACTERS_MIN,
    retry: false,
  });
  const named = screens
    .filter(({ label }) => label.toLowerCase().includes(trimmed.toLowerCase()))
    .map(({ to, label }): Hit => ({ path: to, kind: text.screen, name: label, detail: '' }));
  const resources = wanted === trimmed && wanted.length >= CHARACTERS_MIN ? (found.data ?? []) : [];
  return (
    <Dialog title={text.title} onClose={onClose}>
      <Choices typed={typed} onType={setTyped} hits={[...named, ...resources]} onClose={onClose}>
        {found.error && <Failed error={found.error} retry={() => void found.refetch()} />}
      </Choices>
    </Dialog>
  );
}

type ChoicesProps = {
  typed: string;
  onType: (typed: string) => void;
  hits: readonly Hit[];
  onClose: () => void;
  children: ReactNode;
};

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/**
 * A field with the list of what was found: the arrow keys choose, Enter opens. It is not of type search, in which Esc would
 * empty it first.
 */
function Choices({ typed, onType, hits, onClose, children }: ChoicesProps) {
  const id = useId();
  const [chosen, setChosen] = useState(0);
  const { history } = useRouter();
  const active = Math.min(chosen, hits.length - 1);
  const isNone = hits.length === 0 && typed.trim() !== '';
  const open = (hit: Hit | undefined): void => {
    if (!hit) return;
    onClose();
    history.push(base + hit.path);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (event.key === 'Enter') open(hits[active]);
    else if (step !== undefined && hits.length > 0) setChosen((active + step + hits.length) % hits.length);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text"
        role="combobox"
        className="control w-full"
        maxLength={100}
        autoComplete="off"
        placeholder={text.label}
        aria-label={text.label}
        aria-expanded={hits.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={hits.length > 0 ? `${id}-${active}` : undefined}
        aria-describedby={`${id}-hint`}
        value={typed}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          onType(event.target.value);
          setChosen(0);
        }}
      />
      {children}
      <div
        role="listbox"
        id={`${id}-list`}
        aria-label={text.title}
        className="-mx-2 flex max-h-[50dvh] flex-col overflow-auto"
      >
        {hits.map((hit, index) => (
          <Option
            key={`${hit.path} ${hit.kind} ${hit.name}`}
            id={`${id}-${index}`}
            hit={hit}
            isActive={index === active}
            onPointerMove={() => setChosen(index)}
            onClick={() => open(hit)}
          />
        ))}
      </div>
      <p role="status" className={isNone ? '' : 'sr-only'}>
        {isNone ? text.none : text.results(hits.length)}
      </p>
      <p id={`${id}-hint`} className="text-xs text-quiet">
        {text.hint}
      </p>
    </>
  );
}

type OptionProps = { id: string; hit: Hit; isActive: boolean; onPointerMove: () => void; onClick: () => void };

function Option({ id, hit: { name, detail, kind }, isActive, ...handlers }: OptionProps) {
  return (
    <div
      {...handlers}
      id={id}
      role="option"
      aria-selected={isActive}
      ref={(element) => void (isActive && element?.scrollIntoView({ block: 'nearest' }))}
      className={`flex cursor-pointer flex-wrap items-baseline gap-x-3 rounded-md px-2 py-2 ${isActive ? 'bg-brand-soft' : ''}`}
    >
      <span className="font-semibold">{name}</span>
      <span className="text-quiet">{detail}</span>
      <span className="ms-auto text-xs text-quiet">{kind}</span>
    </div>
  );
}
