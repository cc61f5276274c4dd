import { useEffect, useEffectEvent } from 'react';

/** Does this whenever the browser has a connection again. */
export function useOnline(action: (() => void) | undefined): void {
  const onOnline = useEffectEvent(() => action?.());
  useEffect(() => {
    const listener = (): void => onOnline();
    addEventListener('online', listener);
    return () => removeEventListener('online', listener);
  }, []);
}
