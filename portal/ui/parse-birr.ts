/** Commas separate thousands and nothing else: 100,50 is no amount, rather than 10050. */
const WRITTEN = /^(?:\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:\.\d{1,2})?$/;

/** An amount of birr as a person or a spreadsheet writes it; undefined: it is none. */
export const parseBirr = (written: string): number | undefined =>
  WRITTEN.test(written) ? Number(written.replaceAll(',', '')) : undefined;
