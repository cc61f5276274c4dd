import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { Button } from '../../ui/button.tsx';
import { lastDays } from '../../ui/days.ts';
import { DELIVERY_TEXTS } from '../../ui/delivery-status.ts';
import { Panel } from '../../ui/facts.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { Choice, SelectField } from '../../ui/field.tsx';
import { formatCount, formatDay, formatDuration } from '../../ui/format.ts';
import { catalogue, plural } from '../../ui/language.ts';
import type { Search } from '../../ui/search-params.ts';
import { text as kit } from '../../ui/text.ts';
import { useMember } from '../member.ts';
import { call, useChange } from '../routes.ts';

const deliveries = (count: number): string =>
  `${formatCount(count)} ${plural(count, { one: 'delivery', other: 'deliveries' })}`;

const text = catalogue({
  title: ['Resend many', 'ብዙዎችን እንደገና ይላኩ'],
  help: (from: string, until: string) => [
    `Deliveries of ${from} – ${until}, and of the subscription if the filter below has one. Those of inactive subscriptions do not match.`,
    `የ${from} – ${until} መላኪያዎች፣ ከታች ያለው ማጣሪያ ምዝገባ ካለውም የዚያ ምዝገባ ብቻ። የቆሙ ምዝገባዎች መላኪያዎች አይካተቱም።`,
  ],
  which: ['Which deliveries', 'የትኞቹ መላኪያዎች'],
  rate: ['Rate', 'ፍጥነት'],
  perSecond: (count: number) => [`${formatCount(count)} per second`, `በሰከንድ ${formatCount(count)}`],
  fastest: ['As fast as allowed', 'የተፈቀደውን ያህል በፍጥነት'],
  counting: ['Counting…', 'በመቁጠር ላይ…'],
  matched: (count: number) => [
    `${deliveries(count)} ${plural(count, { one: 'matches', other: 'match' })}.`,
    `${formatCount(count)} መላኪያዎች ይካተታሉ።`,
  ],
  lasts: (time: string) => [`Takes about ${time}.`, `${time} ያህል ይወስዳል።`],
  nothing: ['There is nothing to resend.', 'እንደገና የሚላክ የለም።'],
  narrower: [
    'Clear the filters for one event, order or id first: a bulk resend has days, status and subscription only.',
    'መጀመሪያ የአንድ ክስተት፣ ትዕዛዝ ወይም መለያ ማጣሪያዎችን ያጥፉ፦ የብዙዎች ዳግም መላኪያ ቀናት፣ ሁኔታና ምዝገባ ብቻ አለው።',
  ],
  start: (count: number) => [`Resend ${deliveries(count)}`, `${formatCount(count)} መላኪያዎችን እንደገና ይላኩ`],
});

const DAYS_BACK = 30;
const STATUSES = [
  ['FAILED', DELIVERY_TEXTS.FAILED],
  ['SKIPPED', DELIVERY_TEXTS.SKIPPED],
] as const;
const RATES = [1, 5, 20] as const;
const FASTEST = '';

type Props = { search: Search; onStart: (jobId: string) => void; onClose: () => void };

/** Resends the failed or skipped deliveries of the list's days and subscription, once they are counted. */
export function ResendMany({ search, onStart, onClose }: Props) {
  const { whyNot } = useMember();
  const [status, setStatus] = useState<(typeof STATUSES)[number][0]>(
    search['status'] === 'SKIPPED' ? 'SKIPPED' : 'FAILED',
  );
  const [rate, setRate] = useState(FASTEST);
  const { startDate, endDate, subscriptionId, event, resourceId, checkoutOrderNo } = search;
  const days = startDate && endDate ? { startDate, endDate } : lastDays(DAYS_BACK);
  const isNarrower = (event ?? resourceId ?? checkoutOrderNo) !== undefined;
  const wanted = { status, ...days, ...(subscriptionId && { subscriptionId }) };
  const endpoint = 'POST /api/checkout/webhooks/events/resend';
  const count = useQuery({
    queryKey: ['deliveries to resend', wanted],
    queryFn: () => call(endpoint, { body: { ...wanted, dryRun: true } }),
    enabled: whyNot('webhooks:resend') === undefined,
  });
  const resend = useChange(endpoint);
  const matched = count.data?.data.matched;
  const start = (): void => {
    const body = { ...wanted, ...(rate !== FASTEST && { ratePerSecond: Number(rate) }) };
    resend.mutate({ body }, { onSuccess: ({ data }) => onStart(data.jobId) });
  };
  const reason = whyNot('webhooks:resend') ?? (isNarrower ? text.narrower : matched === 0 ? text.nothing : undefined);
  const close = <Button onClick={onClose}>{kit.cancel}</Button>;
  return (
    <Panel title={text.title} actions={close}>
      <p className="text-quiet">{text.help(formatDay(days.startDate), formatDay(days.endDate))}</p>
      <div className="flex flex-wrap gap-x-8 gap-y-3">
        <Choice label={text.which} options={STATUSES} value={status} onChange={setStatus} />
        <SelectField
          label={text.rate}
          value={rate}
          choices={[...RATES.map((one) => [String(one), text.perSecond(one)] as const), [FASTEST, text.fastest]]}
          onChange={(changed) => setRate(changed.target.value)}
        />
      </div>
      <p role="status">
        {count.error ? null : matched === undefined ? text.counting : text.matched(matched)}{' '}
        {matched !== undefined && matched > 0 && rate !== FASTEST && (
          <span className="text-quiet">{text.lasts(formatDuration(Math.ceil(matched / Number(rate))))}</span>
        )}
      </p>
      {(count.error ?? resend.error) && <Failed error={count.error ?? resend.error} />}
      <div>
        <Button
          kind="primary"
          icon="send"
          isBusy={resend.isPending || (matched === undefined && reason === undefined)}
          whyNot={reason}
          onClick={start}
        >
          {text.start(matched ?? 0)}
        </Button>
      </div>
    </Panel>
  );
}
