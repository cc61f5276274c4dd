import { Link } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';

import type { Tone } from '../ui/badge.tsx';
import { buttonStyle } from '../ui/button.tsx';
import { DialogButton } from '../ui/dialog-button.tsx';
import { Drawer } from '../ui/dialog.tsx';
import { Section } from '../ui/facts.tsx';
import { Loaded } from '../ui/feedback.tsx';
import { QuestionDialog } from '../ui/form.tsx';
import { birr } from '../ui/format.ts';
import { Timeline } from '../ui/timeline.tsx';
import { useMember } from './member.ts';
import { text } from './quote.tsx';

type Payout = {
  requestId: string;
  amount: number;
  timeline: readonly { at: string; kind: string }[];
};

type Props<Detail> = {
  id: string;
  query: ComponentProps<typeof Loaded<{ data: Detail }>>['query'];
  /** The kinds of its timeline in words, and those that are good or bad news. */
  kinds: Readonly<Record<string, string>>;
  tones: Readonly<Record<string, Tone>>;
  state: (detail: Detail) => ReactNode;
  /** Why it is not paid. */
  notes: (detail: Detail) => ReactNode;
  actions: (detail: Detail) => ReactNode;
  facts: (detail: Detail) => ReactNode;
  onClose: () => void;
  children?: ReactNode;
};

/** A withdrawal or settlement beside the list. */
export function PayoutDrawer<Detail extends Payout>({ id, query, kinds, tones, onClose, ...parts }: Props<Detail>) {
  return (
    <Drawer title={query.data?.data.requestId ?? '…'} onClose={onClose}>
      <Loaded query={query}>
        {({ data }) => (
          <>
            <div className="flex flex-wrap items-center gap-3">
              <span className="text-2xl font-semibold tabular-nums">{birr(data.amount)}</span>
              {parts.state(data)}
            </div>
            {parts.notes(data)}
            <div className="flex flex-wrap gap-2">
              <Link to="/balance" search={{ resourceId: id }} className={buttonStyle()}>
                {text.entries}
              </Link>
              {parts.actions(data)}
            </div>
            {parts.facts(data)}
            <Section title={text.timeline}>
              <Timeline
                items={data.timeline.map(({ at, kind }, index) => ({
                  id: `${index}`,
                  at,
                  title: kinds[kind],
                  tone: tones[kind] ?? 'quiet',
                }))}
              />
            </Section>
            {parts.children}
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

type CancelProps<Input> = {
  text: { cancel: string; cancelQuestion: string; cancelled: string };
  permission: string;
} & Pick<ComponentProps<typeof QuestionDialog<Input>>, 'change' | 'input'>;

/** Cancels a withdrawal or settlement after a question. */
export function CancelPayout<Input>({ text: own, permission, change, input }: CancelProps<Input>) {
  const { whyNot } = useMember();
  return (
    <DialogButton kind="danger" label={own.cancel} whyNot={whyNot(permission)}>
      {(close) => (
        <QuestionDialog
          title={own.cancel}
          action={own.cancel}
          kind="danger"
          cancel={text.keep}
          change={change}
          input={input}
          done={own.cancelled}
          onClose={close}
        >
          <p>{own.cancelQuestion}</p>
        </QuestionDialog>
      )}
    </DialogButton>
  );
}
