import { useEffect, useState } from 'react';

import { text } from './delivery-text.ts';
import { formatDuration } from './format.ts';
import { Time } from './time.tsx';

/** When a delivery is tried next, counted down; null: not any more. */
export function NextAttempt({ at }: { at: string | null }) {
  if (at === null) return null;
  return (
    <p>
      {text.nextAttempt} <Countdown at={at} />
    </p>
  );
}

/** The time until an instant, counted down. */
function Countdown({ at }: { at: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  return (
    <>
      <strong role="timer">{seconds > 0 ? text.inTime(formatDuration(seconds)) : text.now}</strong>
      {' · '}
      <Time at={at} seconds />
    </>
  );
}
