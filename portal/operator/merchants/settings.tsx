import type { ReactNode } from 'react';

import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Facts, Fold } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { birr, formatBirr, formatCount } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { ruleName } from '../field-words.ts';
import { useOperator } from '../operator.ts';
import { Actions } from '../parts.tsx';
import { useRead, type FeeRule, type LimitRule } from '../routes.ts';
import { text } from './text.ts';

type Props = { merchantId: string };
const settingOf = ({ merchantId }: Props, name: string): string => `/api/ops/merchants/${merchantId}/${name}`;

/** Fields of a form from present values. */
const typed = (values: Readonly<Record<string, string | number | boolean | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)]));

const money = (amount: number | null): ReactNode => amount !== null && formatBirr(amount);

/** Where a rule comes from, and from when it holds. */
function RuleState({ rule: { own, validFrom }, isScheduled }: { rule: FeeRule | LimitRule; isScheduled: boolean }) {
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <Badge tone={own ? 'info' : 'quiet'}>{own ? text.own : text.standard}</Badge>
      {isScheduled && (
        <>
          <Badge tone="warn">{text.scheduled}</Badge> <Time at={validFrom} />
        </>
      )}
    </span>
  );
}

type Rules<Rule> = { current: readonly Rule[]; scheduled: readonly Rule[] };
type Row<Rule> = { rule: Rule; isScheduled: boolean };

const rowsOf = <Rule,>({ current, scheduled }: Rules<Rule>): Row<Rule>[] => [
  ...current.map((rule) => ({ rule, isScheduled: false })),
  ...scheduled.map((rule) => ({ rule, isScheduled: true })),
];

/** What payments, withdrawals and settlements cost. */
export function Fees(props: Props) {
  const query = useRead('GET /api/ops/merchants/:merchantId/fees', { params: props });
  // Once, not in every row.
  const reason = useOperator().whyNot('merchant.change-fees');
  const columns: readonly Column<Row<FeeRule>>[] = [
    { header: text.direction, cell: ({ rule }) => ruleName(rule) },
    { header: text.rule, narrow: 'second', cell: (row) => <RuleState {...row} /> },
    { header: text.rate, align: 'end', cell: ({ rule }) => text.points(rule.basisPoints) },
    { header: text.fixed, align: 'end', cell: ({ rule }) => money(rule.fixed) },
    { header: text.min, align: 'end', cell: ({ rule }) => money(rule.min) },
    { header: text.max, align: 'end', cell: ({ rule }) => money(rule.max) },
    { header: text.tax, align: 'end', cell: ({ rule }) => text.points(rule.taxBasisPoints) },
    {
      header: text.actions,
      cell: ({ rule }) => {
        const { direction, channel, basisPoints, fixed, min, max, taxBasisPoints, returnedOnRefund } = rule;
        return (
          <CommandButton
            name="merchant.change-fees"
            of={ruleName(rule)}
            address={settingOf(props, 'fees')}
            initial={typed({ direction, channel, basisPoints, fixed, min, max, taxBasisPoints, returnedOnRefund })}
          />
        );
      },
    },
  ];
  return (
    <Fold title={text.fees} actions={reason && <Button whyNot={reason}>{text.change}</Button>}>
      <Loaded query={query}>
        {({ data }) => (
          <List
            label={text.fees}
            columns={reason === undefined ? columns : columns.slice(0, -1)}
            rows={rowsOf(data)}
            idOf={({ rule }) => rule.feeRuleId}
          />
        )}
      </Loaded>
    </Fold>
  );
}

/** The smallest and largest amounts of payments and withdrawals. */
export function Limits(props: Props) {
  const query = useRead('GET /api/ops/merchants/:merchantId/limits', { params: props });
  const reason = useOperator().whyNot('merchant.change-limits');
  const columns: readonly Column<Row<LimitRule>>[] = [
    { header: text.direction, cell: ({ rule }) => ruleName(rule) },
    { header: text.rule, narrow: 'second', cell: (row) => <RuleState {...row} /> },
    { header: text.min, align: 'end', cell: ({ rule }) => money(rule.min) },
    { header: text.max, align: 'end', cell: ({ rule }) => money(rule.max) },
    { header: text.daily, align: 'end', cell: ({ rule }) => money(rule.daily) },
    {
      header: text.actions,
      cell: ({ rule: { direction, channel, min, max, daily } }) => (
        <CommandButton
          name="merchant.change-limits"
          of={ruleName({ direction, channel })}
          address={settingOf(props, 'limits')}
          initial={typed({ direction, channel, min, max, daily })}
        />
      ),
    },
  ];
  return (
    <Fold title={text.limits} actions={reason && <Button whyNot={reason}>{text.change}</Button>}>
      <Loaded query={query}>
        {({ data }) => (
          <List
            label={text.limits}
            columns={reason === undefined ? columns : columns.slice(0, -1)}
            rows={rowsOf(data)}
            idOf={({ rule }) => rule.limitRuleId}
          />
        )}
      </Loaded>
    </Fold>
  );
}

/** Which withdrawals operators review. */
export function ReviewPolicy(props: Props) {
  const query = useRead('GET /api/ops/merchants/:merchantId/review-policy', { params: props });
  return (
    <Fold title={text.review}>
      <Loaded query={query} skeletonRows={2}>
        {({ data: { own, largeAmount, twoPersonAmount, perHourMax } }) => (
          <>
            <Facts
              rows={{
                [text.rule]: own ? text.own : text.standard,
                [text.largeAmount]: birr(largeAmount),
                [text.twoPersonAmount]: birr(twoPersonAmount),
                [text.perHourMax]: formatCount(perHourMax),
              }}
            />
            <Actions>
              <CommandButton
                name="merchant.change-review"
                of={text.review}
                address={settingOf(props, 'review-policy')}
                initial={typed({ largeAmount, twoPersonAmount, perHourMax })}
              />
            </Actions>
          </>
        )}
      </Loaded>
    </Fold>
  );
}

/** The smallest and the largest settlement. */
export function SettlementLimit(props: Props) {
  const query = useRead('GET /api/ops/merchants/:merchantId/settlement-limit', { params: props });
  return (
    <Fold title={text.settlementLimit}>
      <Loaded query={query} skeletonRows={2}>
        {({ data: { own, min, max } }) => (
          <>
            <Facts
              rows={{
                [text.rule]: own ? text.own : text.standard,
                [text.min]: birr(min),
                [text.max]: birr(max),
              }}
            />
            <Actions>
              <CommandButton
                name="merchant.change-settlement-limit"
                of={text.settlementLimit}
                address={settingOf(props, 'settlement-limit')}
                initial={typed({ min, max })}
              />
            </Actions>
          </>
        )}
      </Loaded>
    </Fold>
  );
}
