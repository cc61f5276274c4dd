import { Badge } from '../badge.tsx';
import { Button } from '../button.tsx';
import { Panel } from '../facts.tsx';
import { Failed, Loaded } from '../feedback.tsx';
import { List, type Column } from '../list.tsx';
import { SignOutButton } from '../person-menu.tsx';
import { Time } from '../time.tsx';
import { toast } from '../toast.tsx';
import { useChange, useRead, type PersonSession } from './routes.ts';
import { text } from './text.ts';

/** Browser and system of a User-Agent, in short. */
function deviceName(userAgent: string): string {
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\/\d+/.exec(userAgent)?.[0]?.replace('/', ' ').replace('Edg', 'Edge');
  const system = /Android|iPhone|iPad|Windows|Mac OS X|Linux/.exec(userAgent)?.[0];
  return [browser, system].filter(Boolean).join(' · ') || text.unknownDevice;
}

/** Where the person is signed in. */
export function Sessions() {
  const sessions = useRead('GET /api/portal/sessions', {});
  const end = useChange('POST /api/portal/sessions/:sessionId/end');
  const columns: readonly Column<PersonSession>[] = [
    {
      header: text.device,
      cell: ({ device, current }) => (
        <span title={device}>
          {deviceName(device)} {current && <Badge tone="good">{text.thisOne}</Badge>}
        </span>
      ),
    },
    { header: text.address, narrow: 'second', cell: ({ address }) => address },
    { header: text.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: text.signedIn, narrow: 'none', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  const others: Column<PersonSession> = {
    header: text.end,
    narrow: 'second',
    cell: ({ sessionId, current, device }) =>
      !current && (
        <Button
          isBusy={end.isPending}
          aria-label={text.endLabel(deviceName(device))}
          onClick={() => end.mutate({ params: { sessionId } }, { onSuccess: () => toast(text.ended) })}
        >
          {text.end}
        </Button>
      ),
  };
  return (
    <Panel title={text.sessions} actions={<SignOutButton isEverywhere />}>
      <p className="text-quiet">{text.sessionsHelp}</p>
      {end.error && <Failed error={end.error} />}
      <Loaded query={sessions} skeletonRows={3}>
        {({ data }) => (
          <List
            label={text.sessions}
            columns={data.length > 1 ? [...columns, others] : columns}
            rows={data}
            idOf={({ sessionId }) => sessionId}
          />
        )}
      </Loaded>
    </Panel>
  );
}
