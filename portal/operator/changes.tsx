import { catalogue } from '../ui/language.ts';

const text = catalogue({
  field: ['Field', 'መስክ'],
  before: ['Before', 'በፊት'],
  after: ['After', 'በኋላ'],
  nothing: ['No field differs.', 'የሚለይ መስክ የለም።'],
  label: ['Changed fields', 'የተለወጡ መስኮች'],
});

type Fields = Readonly<Record<string, unknown>> | null;

const valueText = (value: unknown): string => {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
};

/** The fields that a change gives other values, before and after. */
export function Changes({ before, after }: { before: Fields; after: Fields }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (names.length === 0) return <p className="text-quiet">{text.nothing}</p>;
  return (
    <div className="overflow-x-auto">
      <table aria-label={text.label} className="w-full border-collapse text-xs">
        <thead>
          <tr>
            {[text.field, text.before, text.after].map((header) => (
              <th key={header} scope="col" className="border-b border-line px-2 py-1 text-start text-quiet">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name} className="border-b border-line align-top last:border-0">
              <th scope="row" className="px-2 py-1 text-start font-mono font-normal">
                {name}
              </th>
              <td className="bg-bad-soft px-2 py-1 font-mono whitespace-pre-wrap">{valueText(before?.[name])}</td>
              <td className="bg-good-soft px-2 py-1 font-mono whitespace-pre-wrap">{valueText(after?.[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
