import type { ReactNode } from 'react';

import { listed } from './format.ts';
import { catalogue } from './language.ts';

const text = catalogue({
  field: ['Field', 'መስክ'],
  before: ['Before', 'በፊት'],
  after: ['After', 'በኋላ'],
  none: ['No field differs.', 'የሚለይ መስክ የለም።'],
  label: ['Changed fields', 'የተለወጡ መስኮች'],
});

type Fields = Readonly<Record<string, unknown>> | null;

/** The API's names and values in words; undefined: there are none, and the code is shown. */
type Words = {
  labelOf: (name: string) => string | undefined;
  valueOf: (name: string, value: unknown) => ReactNode;
};

function valueText(value: unknown): string {
  if (value === null) return '–';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return listed(value);
  return JSON.stringify(value, null, 1);
}

type Props = { before: Fields; after: Fields; none?: string; words?: Words };

/** The fields of a change by the API's names, or in words, with their values before and after it. */
export function Changes({ before, after, none = text.none, words }: Props) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (names.length === 0) return <p className="text-quiet">{none}</p>;
  const columns = [
    { values: before, header: text.before, className: 'bg-bad-soft text-bad line-through decoration-1' },
    { values: after, header: text.after, className: 'bg-good-soft text-good' },
  ].filter(({ values }) => values !== null);
  return (
    <div className="overflow-x-auto">
      <table aria-label={text.label} className="w-full border-collapse text-start text-xs">
        <thead>
          <tr>
            <th scope="col" className="px-2 py-1 text-start font-semibold text-quiet">
              {text.field}
            </th>
            {columns.map(({ header }) => (
              <th key={header} scope="col" className="px-2 py-1 text-start font-semibold text-quiet">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name} className="border-t border-line align-top">
              <td className="px-2 py-1.5">{words?.labelOf(name) ?? <code className="font-mono">{name}</code>}</td>
              {columns.map(({ header, values, className }) => (
                <td key={header} className="px-2 py-1.5">
                  {values?.[name] !== undefined && (
                    <span className={`rounded px-1 wrap-anywhere whitespace-pre-wrap ${className}`}>
                      {words?.valueOf(name, values[name]) ?? (
                        <code className="font-mono">{valueText(values[name])}</code>
                      )}
                    </span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
