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

type Props = { more: readonly KeyHelp[]; docsUrl: string | undefined; onClose: () => void };

/** Where the API is described, and the keys of the pages: those of every entry and `more`. */
export function Help({ more, docsUrl, onClose }: Props) {
  const [isOn, setOn] = useState(areShortcutsOn);
  const change = (wanted: boolean): void => {
    turnShortcuts(wanted);
    setOn(wanted);
  };
  return (
    <Dialog title={text.help} onClose={onClose}>
      {docsUrl !== undefined && (
        <a href={docsUrl} target="_blank" rel="noreferrer" className="text-brand underline">
          {text.docs}
        </a>
      )}
      <h3 className="font-semibold">{text.keys}</h3>
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
