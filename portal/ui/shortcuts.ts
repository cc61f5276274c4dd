import { useEffectEvent, useLayoutEffect } from 'react';

const STORED_AS = 'meskot.shortcuts';

/** Whether keys without Ctrl do something: a person can turn them off (WCAG 2.1.4). */
export const areShortcutsOn = (): boolean => localStorage.getItem(STORED_AS) !== 'off';

export function turnShortcuts(isOn: boolean): void {
  localStorage.setItem(STORED_AS, isOn ? 'on' : 'off');
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/**
 * Runs an action when its key is pressed outside of modal windows; `Ctrl+k` in fields too, others not. Cmd counts as Ctrl.
 */
export function useShortcuts(actions: Readonly<Record<string, () => void>>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const isChord = event.ctrlKey || event.metaKey;
    const action = actions[isChord ? `Ctrl+${event.key.toLowerCase()}` : event.key];
    if (!action || event.altKey || event.defaultPrevented || document.querySelector('dialog:modal')) return;
    const isOff = event.key !== 'Escape' && !areShortcutsOn();
    if (!isChord && (isTyping(event.target) || isOff)) return;
    event.preventDefault();
    action();
  });
  // Before the browser shows what they belong to.
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}
