import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';

import { Button, buttonStyle } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { text } from './frame-text.ts';
import { isSessionEnded, onSignedIn, subscribe } from './session.ts';
import { ME } from './use-calls.ts';

/** In front of a page that keeps what was typed, once its session has ended. */
export function SessionEnded() {
  return useSyncExternalStore(subscribe, isSessionEnded) && <SignInAgain />;
}

/** Looks for a new session when the person comes back to the page, and when they say so. */
function SignInAgain() {
  const client = useQueryClient();
  const [looks, setLooks] = useState(0);
  const look = async (): Promise<void> => {
    await client.refetchQueries({ queryKey: ME });
    if (client.getQueryState(ME)?.status !== 'success') return setLooks((count) => count + 1);
    onSignedIn();
    await client.invalidateQueries();
  };
  const onReturn = useEffectEvent(() => void (document.hidden || look()));
  useEffect(() => {
    const listener = (): void => onReturn();
    addEventListener('focus', listener);
    document.addEventListener('visibilitychange', listener);
    return () => {
      removeEventListener('focus', listener);
      document.removeEventListener('visibilitychange', listener);
    };
  }, []);
  return (
    // One that was closed without a session opens again.
    <Dialog key={looks} title={text.sessionEnded} onClose={() => void look()}>
      <p>{text.sessionEndedHelp}</p>
      {looks > 0 && <p role="alert">{text.notSignedIn}</p>}
      <div className="flex flex-wrap gap-2">
        <a href="/sign-in" target="_blank" rel="noreferrer" className={buttonStyle('primary')}>
          {text.signInAgain}
        </a>
        <Button onClick={() => void look()}>{text.signedIn}</Button>
      </div>
    </Dialog>
  );
}
