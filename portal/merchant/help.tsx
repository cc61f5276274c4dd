import { useState } from 'react';

import { Dialog } from '../ui/dialog.tsx';
import { Check } from '../ui/field.tsx';
import { areShortcutsOn, turnShortcuts } from '../ui/shortcuts.ts';
import { text } from './text.ts';

const KEYS = [
  ['?', text.keyHelp],
  ['/', text.keySearch],
  ['j k', text.keyNextRow],
  ['Enter', text.keyOpen],
  ['Esc', text.keyClose],
  ['n', text.keyNewPayment],
] as const;

/** The keys of the pages. */
export function Help({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areShortcutsOn);
  const change = (wanted: boolean): void => {
    turnShortcuts(wanted);
    setOn(wanted);
  };
  return (
    <Dialog title={text.keys} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2">
        {KEYS.map(([keys, meaning]) => (
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
