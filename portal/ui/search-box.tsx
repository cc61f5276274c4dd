import { useEffect, useRef, type FormEvent, type RefObject } from 'react';

import { Icon } from './icon.tsx';
import { useShortcuts } from './shortcuts.ts';

const CHARACTERS_MAX = 253;

type Props = {
  label: string;
  name: string;
  /** What is searched for now. */
  value?: string | undefined;
  className: string;
  ref?: RefObject<HTMLInputElement | null>;
  /** undefined: the field was emptied. */
  onSearch: (wanted: string | undefined) => void;
};

/** A field to search by, which is cleared by emptying it. */
export function SearchField({ label, name, value, className, ref, onSearch }: Props) {
  const own = useRef<HTMLInputElement>(null);
  const input = ref ?? own;
  useEffect(() => {
    if (input.current) input.current.value = value ?? '';
  }, [input, value]);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const wanted = new FormData(event.currentTarget).get(name);
    onSearch((typeof wanted === 'string' && wanted.trim()) || undefined);
  };
  return (
    <search className={`min-w-0 ${className}`}>
      <form onSubmit={submit} className="relative">
        <Icon name="search" className="pointer-events-none absolute top-2.5 left-2.5 text-quiet" />
        <input
          ref={input}
          type="search"
          name={name}
          maxLength={CHARACTERS_MAX}
          aria-label={label}
          placeholder={label}
          className="control w-full ps-8"
          onChange={({ target }) => {
            if (target.value === '' && value !== undefined) onSearch(undefined);
          }}
        />
      </form>
    </search>
  );
}

/** The search of the top bar; / and Ctrl-K lead to it. */
export function SearchBox({ label, onSearch }: { label: string; onSearch: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const focus = (): void => {
    input.current?.focus();
    input.current?.select();
  };
  useShortcuts({ '/': focus, 'Ctrl+k': focus });
  const search = (wanted: string | undefined): void => {
    if (wanted !== undefined) onSearch(wanted);
  };
  return <SearchField label={label} name="q" className="flex-1 sm:max-w-md" ref={input} onSearch={search} />;
}
