import { useEffect, useEffectEvent } from 'react';

const STORED_AS = 'meskot.shortcuts';

/** Whether keys without Ctrl do something: a person can turn them off (WCAG 2.1.4). */
export const areShortcutsOn = (): boolean => localStorage.getItem(STORED_AS) !== 'off';

export function turnShortcuts(isOn: boolean): void {
  localStorage.setItem(STORED_AS, isOn ? 'on' : 'off');
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Runs an action when its key is pressed outside of fields and modal windows. */
export function useShortcuts(actions: Readonly<Record<string, () => void>>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target) || document.querySelector('dialog:modal') || !areShortcutsOn()) return;
    event.preventDefault();
    action();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}
