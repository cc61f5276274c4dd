import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';

import { findRepeated, readBatch, TEMPLATE } from '../../portal/merchant/withdrawals/batch-file.ts';
import { csvOf, parseCsv } from '../../portal/merchant/withdrawals/csv.ts';

const fieldsOf = (text: string): string[][] => parseCsv(text).map(({ fields }) => fields);

test('a file is read as it was written, whatever its fields contain and separates them', () => {
  const field = fc.string({ unit: fc.constantFrom('a', '1', ' ', '"', ',', ';', '\t', '\n', '\r\n', 'አ', '=') });
  const records = fc.array(fc.tuple(fc.constant('x'), field, field), { minLength: 1 });
  const separator = fc.constantFrom(',', ';', '\t');
  fc.assert(
    fc.property(records, separator, fc.boolean(), (rows, delimiter, bom) => {
      // The first line names columns: it has no separator of another kind.
      const written = [['a', 'b', 'c'], ...rows];
      const options = { delimiter, bom, record_delimiter: 'windows', quoted_match: /[\r\n]/ } as const;
      expect(fieldsOf(stringify(written, options))).toEqual(written);
    }),
    { seed: 20_261_123, numRuns: 500 },
  );
});

test('records have the line that they begin in, and blank lines are left out', () => {
  const text = 'a,b\r\n"1\r\n2",x\n\n ,\r3,"y ""z"""';
  expect(parseCsv(text)).toEqual([
    { line: 1, fields: ['a', 'b'] },
    { line: 2, fields: ['1\r\n2', 'x'] },
    { line: 6, fields: ['3', 'y "z"'] },
  ]);
});

test('no field of a written file is a formula', async () => {
  const file = csvOf([['=1+1', '+251', '-5', -5, 'a"b', 'c,d', '@x']]);
  const text = Buffer.from(await file.arrayBuffer()).toString();
  expect(text).toBe(`\uFEFF'=1+1,'+251,'-5,-5,"a""b","c,d",'@x\r\n`);
});

test('the template is read as payouts to a wallet and to a bank account', async () => {
  const { lines, problem } = readBatch(await csvOf(TEMPLATE).text());
  expect(problem).toBeNull();
  expect(lines).toEqual([
    {
      line: 2,
      body: {
        requestId: 'PAYROLL-2026-11-001',
        amount: 1250.5,
        channel: 'TELEBIRR',
        destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
        reason: 'Salary of November',
      },
    },
    {
      line: 3,
      body: {
        requestId: 'PAYROLL-2026-11-002',
        amount: 2300,
        channel: 'AWASH',
        destination: { bankCode: 'ABAY', accountNumber: '01320123456', accountName: 'Derartu Tulu' },
        reason: 'Salary of November',
      },
    },
  ]);
});

test.each([
  ['1250', 1250],
  ['1250.5', 1250.5],
  ['"1,250.50"', 1250.5],
  ['"1,000,000"', 1_000_000],
  // Decimal commas, other groups, currencies: never another number.
  ['"1250,50"', '1250,50'],
  ['"12,50"', '12,50'],
  ['"1.250,50"', '1.250,50'],
  ['1.005', '1.005'],
  ['1e3', '1e3'],
  ['-5', '-5'],
  ['5 ETB', '5 ETB'],
  ['', ''],
])('the amount %s is read as %j', (written, amount) => {
  const { lines } = readBatch(`requestId,amount,channel,accountName\nA,${written},TELEBIRR,Abebe`);
  expect(lines[0]?.body.amount).toBe(amount);
});

test('columns may stand in any order, by the names of the API or the template, and codes in any case', () => {
  const file = 'account_name;CHANNEL;Amount;Bank Code;Account number;reference\nAbebe;cbe birr;5;cbe;1000123456789;A-1';
  expect(readBatch(file).lines[0]?.body).toEqual({
    requestId: 'A-1',
    amount: 5,
    channel: 'CBE_BIRR',
    destination: { bankCode: 'CBE', accountNumber: '1000123456789', accountName: 'Abebe' },
  });
});

const HEADING = 'Reference,Amount,Channel,Account name';

test.each([
  ['', 'missingColumns', 'Reference, Amount, Channel, Account name'],
  ['A,5,TELEBIRR,Abebe', 'missingColumns', 'Reference, Amount, Channel, Account name'],
  [`${HEADING},IBAN\nA,5,TELEBIRR,Abebe,1`, 'unknownColumn', expect.stringContaining('"IBAN"')],
  [`${HEADING},Amount\nA,5,TELEBIRR,Abebe,6`, 'repeatedColumn', ''],
  [`${HEADING}\nA,5,TELEBIRR,Abebe,Bikila`, 'tooManyFields', '2'],
  [`${HEADING}\n\n`, 'noLines', ''],
  [`${HEADING}\nA,5,TELEBIRR,Abebe\nB,6,TELEBIRR,"Derartu\nC,7,TELEBIRR,Haile`, 'unclosedQuote', '3'],
  [`${HEADING}\nA,5,TELEBIRR,\uFFFD\uFFFD`, 'notUtf8', ''],
  [`${HEADING}\n${'A,5,TELEBIRR,Abebe\n'.repeat(501)}`, 'tooManyLines', '500'],
])('a file that begins %j cannot be read: %s', (content, name, what) => {
  expect(readBatch(content)).toEqual({ lines: [], problem: { name, what } });
});

test('lines of the same amount to the same beneficiary are found, however the phone is written', () => {
  const lines = [
    'A,5,TELEBIRR,Abebe,0911000001',
    'B,5,TELEBIRR,A. Bikila,+251911000001',
    'C,6,TELEBIRR,Abebe,0911000001',
  ];
  const batch = readBatch([`${HEADING},Phone`, ...lines].join('\n'));
  expect([...findRepeated(batch.lines)]).toEqual([[3, 2]]);
});
