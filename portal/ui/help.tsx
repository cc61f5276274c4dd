import { useState } from 'react';

import { Dialog } from './dialog.tsx';
import { Check } from './field.tsx';
import { text } from './frame-text.ts';
import { areShortcutsOn, turnShortcuts } from './shortcuts.ts';

/** Keys, separated by spaces, and what they do. */
export type KeyHelp = readonly [keys: string, meaning: string];

const KEYS: readonly KeyHelp[] = [
  ['?', text.keyHelp],
  ['j k', text.keyNextRow],
  ['Enter', text.keyOpen],
  ['Esc', text.keyClose],
];

/** The keys of the pages: those of every entry and `more`. */
export function Help({ more, onClose }: { more: readonly KeyHelp[]; onClose: () => void }) {
  const [isOn, setOn] = useState(areShortcutsOn);
  const change = (wanted: boolean): void => {
    turnShortcuts(wanted);
    setOn(wanted);
  };
  return (
    <Dialog title={text.keys} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2">
        {[...KEYS, ...more].map(([keys, meaning]) => (
          <div key={keys} className="contents">
            <dt className="flex gap-1">
              {keys.split(' ').map((key) => (
                <kbd key={key} className="rounded border border-strong-line bg-sunken px-1.5 font-mono">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <Check label={text.keysOn} isChecked={isOn} onChange={change} />
    </Dialog>
  );
}
