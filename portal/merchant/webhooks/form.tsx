import { useState } from 'react';

import { ApiText, issueOf } from '../../ui/api-text.tsx';
import { environment } from '../../ui/environment.ts';
import { Check, Choice, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange, useRead, type Subscription } from '../routes.ts';
import { EVENT_TYPES } from './event-types.ts';
import { text } from './text.ts';

type Props = { subscription?: Subscription; onClose: () => void; onSecret: (secret: string) => void };
type Fields = Pick<Subscription, 'url' | 'description' | 'eventTypes' | 'signatureEncoding'>;

const NEW: Fields = { url: '', description: '', eventTypes: ['*'], signatureEncoding: 'base64' };
const fieldsOf = ({ url, description, eventTypes, signatureEncoding }: Fields): Fields => ({
  url,
  description,
  eventTypes,
  signatureEncoding,
});

/** Creates a subscription, or changes one. */
export function SubscriptionForm({ subscription, onClose, onSecret }: Props) {
  const [fields, setFields] = useState(fieldsOf(subscription ?? NEW));
  const [isTried, setTried] = useState(false);
  const create = useChange('POST /api/checkout/webhooks/subscriptions');
  const change = useChange('PATCH /api/checkout/webhooks/subscriptions/:subscriptionId');
  const failure = create.error ?? change.error;
  const urlIssue = issueOf(failure, 'url');
  const hasNoEvents = fields.eventTypes.length === 0;
  const submit = (): void => {
    setTried(true);
    if (fields.url === '' || hasNoEvents) return;
    if (subscription) {
      const { subscriptionId } = subscription;
      const onSuccess = (): void => (onClose(), toast(text.saved));
      change.mutate({ params: { subscriptionId }, body: fields }, { onSuccess });
    } else {
      create.mutate({ body: fields }, { onSuccess: ({ data }) => (onClose(), onSecret(data.secret)) });
    }
  };
  return (
    <FormDialog
      title={subscription ? text.edit : text.newSubscription}
      action={subscription ? text.save : text.create}
      change={{ error: failure, isPending: create.isPending || change.isPending }}
      isErrorBeside={urlIssue !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      {!subscription?.sandboxReceiver && (
        <TextField
          label={text.url}
          hint={environment === 'live' ? text.urlHint : text.urlHintTest}
          isRequired
          type="url"
          maxLength={2_000}
          value={fields.url}
          error={isTried && fields.url === '' ? kit.fillIn : urlIssue}
          onChange={(event) => setFields({ ...fields, url: event.target.value.trim() })}
        />
      )}
      <TextField
        label={text.description}
        hint={text.descriptionHint}
        maxLength={500}
        value={fields.description}
        onChange={(event) => setFields({ ...fields, description: event.target.value })}
      />
      <EventTypes chosen={fields.eventTypes} onChange={(eventTypes) => setFields({ ...fields, eventTypes })} />
      {hasNoEvents && <p className="font-medium text-bad">{text.chooseOne}</p>}
      <Choice
        label={text.encoding}
        options={[
          ['base64', 'base64'],
          ['hex', 'hex'],
        ]}
        value={fields.signatureEncoding}
        onChange={(signatureEncoding) => setFields({ ...fields, signatureEncoding })}
      />
    </FormDialog>
  );
}

type EventTypesProps = { chosen: readonly string[]; onChange: (chosen: string[]) => void };

/** All events, or some of them. */
function EventTypes({ chosen, onChange }: EventTypesProps) {
  const isAll = chosen.includes('*');
  const types = useRead('GET /api/checkout/webhooks/event-types', {});
  return (
    <>
      <Choice
        label={text.events}
        options={[
          ['all', text.allEvents],
          ['some', text.someEvents],
        ]}
        value={isAll ? 'all' : 'some'}
        onChange={(value) => onChange(value === 'all' ? ['*'] : [])}
      />
      {!isAll && (
        <div className="rounded-md border border-line p-2">
          {types.data?.data.map(({ event: name, description }) => (
            <Check
              key={name}
              label={
                <span>
                  <code className="font-mono text-xs">{name}</code>
                  <span className="block text-xs text-quiet">
                    <ApiText text={description} amharic={EVENT_TYPES[name]} />
                  </span>
                </span>
              }
              isChecked={chosen.includes(name)}
              onChange={(isChecked) => onChange(isChecked ? [...chosen, name] : chosen.filter((one) => one !== name))}
            />
          ))}
        </div>
      )}
    </>
  );
}
