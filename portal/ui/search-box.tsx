import { useRef, type FormEvent } from 'react';

import { Icon } from './icon.tsx';
import { useShortcuts } from './shortcuts.ts';

const CHARACTERS_MAX = 253;

/** The search of the top bar; / and Ctrl-K lead to it. */
export function SearchBox({ label, onSearch }: { label: string; onSearch: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const focus = (): void => input.current?.select();
  useShortcuts({ '/': focus, 'Ctrl+k': focus });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = input.current?.value.trim() ?? '';
    if (wanted !== '') onSearch(wanted);
  };
  return (
    <search className="min-w-0 flex-1 sm:max-w-md">
      <form onSubmit={submit} className="relative">
        <Icon name="search" className="pointer-events-none absolute top-2.5 left-2.5 text-quiet" />
        <input
          ref={input}
          type="search"
          name="q"
          maxLength={CHARACTERS_MAX}
          aria-label={label}
          placeholder={label}
          className="control w-full ps-8"
        />
      </form>
    </search>
  );
}
