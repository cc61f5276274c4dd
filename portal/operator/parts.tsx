import { Note, Badge } from '../ui/badge.tsx';
import { buttonStyle } from '../ui/button.tsx';
import { BASES, environment } from '../ui/environment.ts';
import { text as frame } from '../ui/frame-text.ts';
import { text } from './text.ts';

type Environment = typeof environment;

/** TEST or LIVE; null: of both. */
export function EnvironmentBadge({ of }: { of: Environment | null }) {
  if (of === null) return null;
  return <Badge tone={of === 'live' ? 'bad' : 'warn'}>{of === 'live' ? frame.live : frame.test}</Badge>;
}

/** Shown where an address leads to something of the other environment. */
export function OtherEnvironment({ of, path }: { of: Environment | null; path: string }) {
  if (of === null || of === environment) return null;
  return (
    <Note tone="warn">
      {text.otherEnvironment}{' '}
      <a href={BASES[of] + path} className="underline">
        {text.openThere}
      </a>
    </Note>
  );
}

/** The workflow in the Temporal UI. */
export function TemporalLink({ url }: { url: string | null | undefined }) {
  if (!url) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer" className={buttonStyle()}>
      {text.temporal}
    </a>
  );
}
