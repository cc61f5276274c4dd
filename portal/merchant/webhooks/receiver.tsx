import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copy.tsx';
import { Panel } from '../../ui/facts.tsx';
import { Empty, Failed, Loaded } from '../../ui/feedback.tsx';
import { SelectField } from '../../ui/field.tsx';
import { formatCount } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { useChange, useRead, type ReceivedRequest, type Subscription } from '../routes.ts';
import { text } from './receiver-text.ts';

const REFRESH_MS = 2_000;

/** The receiver of the sandbox, for merchants without a server: how it answers, and what it got. */
export function Receiver({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const subscription = subscriptions.find(({ sandboxReceiver }) => sandboxReceiver !== null);
  return (
    <Panel title={text.title}>
      <p className="text-quiet">{text.help}</p>
      {subscription ? (
        <>
          <Answer subscription={subscription} />
          <Requests subscriptionId={subscription.subscriptionId} />
        </>
      ) : (
        <SwitchOn />
      )}
    </Panel>
  );
}

/** Subscribes the receiver to all events. */
export function SwitchOn() {
  const { whyNot } = useMember();
  const create = useChange('POST /api/checkout/webhooks/subscriptions');
  const body = { sandboxReceiver: 'ok', eventTypes: ['*'] };
  const start = (): void => create.mutate({ body }, { onSuccess: () => toast(text.switchedOn) });
  return (
    <div className="flex flex-col items-start gap-2">
      {create.error && <Failed error={create.error} />}
      <Button isBusy={create.isPending} whyNot={whyNot('webhooks:write')} onClick={start}>
        {text.switchOn}
      </Button>
    </div>
  );
}

const ANSWERS = [
  ['ok', text.ok],
  ['error', text.error],
  ['slow', text.slow],
] as const;

function Answer({ subscription: { subscriptionId, sandboxReceiver } }: { subscription: Subscription }) {
  const notAllowed = useMember().whyNot('webhooks:write');
  const change = useChange('PATCH /api/checkout/webhooks/subscriptions/:subscriptionId');
  return (
    <div className="max-w-md">
      <SelectField
        label={text.answer}
        hint={notAllowed ?? text.answerHelp}
        choices={ANSWERS}
        value={sandboxReceiver ?? 'ok'}
        disabled={change.isPending || notAllowed !== undefined}
        onChange={(event) =>
          change.mutate({ params: { subscriptionId }, body: { sandboxReceiver: event.target.value } })
        }
      />
      {change.error && <Failed error={change.error} />}
    </div>
  );
}

function Requests({ subscriptionId }: { subscriptionId: string }) {
  const endpoint = 'GET /api/checkout/webhooks/subscriptions/:subscriptionId/requests';
  const requests = useRead(endpoint, { params: { subscriptionId } }, { everyMs: REFRESH_MS });
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-semibold">
        {text.requests} <span className="text-xs font-normal text-quiet">{text.kept}</span>
      </h3>
      <Loaded query={requests} skeletonRows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={text.none}>{text.noneHelp}</Empty>
          ) : (
            <ol aria-label={text.requests} aria-live="polite" className="max-h-160 overflow-y-auto">
              {data.map((request) => (
                <RequestPart key={request.requestId} request={request} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </section>
  );
}

/** The type of the event in a body; a cut body is no JSON. */
function eventOf(body: string): string {
  return /"event":"([\w.]+)"/.exec(body)?.[1] ?? text.other;
}

function RequestPart({ request }: { request: ReceivedRequest }) {
  const { receivedAt, headers, body, bodyBytes, problem, httpStatus } = request;
  const isCut = new TextEncoder().encode(body).length < bodyBytes;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <li className="border-t border-line py-2">
      <details>
        <summary>
          <span className="inline-flex max-w-[calc(100%-1.5rem)] flex-wrap items-center gap-x-3 gap-y-1 align-middle">
            <Time at={receivedAt} seconds />
            <code className="font-mono text-xs">{eventOf(body)}</code>
            <Badge tone={problem === null ? 'good' : 'bad'}>{problem === null ? text.valid : text.invalid}</Badge>
            <Badge tone={httpStatus === 200 ? 'quiet' : 'warn'}>{text.answered(httpStatus)}</Badge>
          </span>
        </summary>
        <div className="mt-2 flex flex-col gap-2">
          {problem !== null && (
            <p lang="en" className="text-bad">
              {problem}
            </p>
          )}
          <p className="text-quiet">{text.headers}</p>
          <CodeBlock value={lines.join('\n')} name={text.headers} />
          <p className="text-quiet">{isCut ? text.cut(formatCount(bodyBytes)) : text.body}</p>
          <CodeBlock value={body} name={text.body} />
        </div>
      </details>
    </li>
  );
}
