import { useState, type ReactNode } from 'react';

import { IconButton } from './button.tsx';
import { text } from './text.ts';

const COPIED_MS = 2_000;

/** Copies a value. `name` is what it is: "Copy: transaction id". */
export function CopyButton({ value, name }: { value: string; name: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <>
      <IconButton
        icon={isCopied ? 'check' : 'copy'}
        label={text.about(isCopied ? text.copied : text.copy, name)}
        className="-my-2"
        onClick={() => void copy()}
      />
      <span role="status" className="sr-only">
        {isCopied ? text.copied : ''}
      </span>
    </>
  );
}

/** An id, URL or secret in full with its copy button. */
export function Code({ value, name }: { value: string; name: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-0.5">
      <code className="min-w-0 font-mono text-[0.8125rem] break-all">{value}</code>
      <CopyButton value={value} name={name} />
    </span>
  );
}

/** An id or a name of code among other text. */
export function Mono({ children }: { children: ReactNode }) {
  return <code className="font-mono text-xs">{children}</code>;
}

/** Text of several lines, such as JSON, with its copy button. `name` is what it is. */
export function CodeBlock({ value, name }: { value: string; name: string }) {
  return (
    <div className="relative">
      <pre
        role="region"
        tabIndex={0}
        aria-label={name}
        className="max-h-80 overflow-auto rounded-md border border-line bg-sunken p-3 pe-11 font-mono text-xs whitespace-pre-wrap"
      >
        {value}
      </pre>
      <div className="absolute top-2.5 right-1">
        <CopyButton value={value} name={name} />
      </div>
    </div>
  );
}
