/** HTML that is safe to put into a page. */
export type Html = { html: string };

/** A template whose every inserted text is escaped; inserted HTML, and lists of it, stay as they are. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | number | Html | Html[])[]): Html {
  const inserted = values.map((value) => {
    if (Array.isArray(value)) return value.map((item) => item.html).join('');
    return typeof value === 'object' ? value.html : escape(String(value));
  });
  return { html: String.raw({ raw: parts }, ...inserted) };
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
