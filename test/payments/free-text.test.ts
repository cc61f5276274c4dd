import { ClaimBody, NewSession } from '../../src/payments/session-schema.ts';

const session = { checkoutOrderNo: 'ORDER-1', amount: 100.5, currency: 'ETB' };

/** The fields that are refused. */
function refused(parsed: { error?: { issues: { path: PropertyKey[] }[] } | undefined }): string[] {
  return (parsed.error?.issues ?? []).map(({ path }) => path.join('.'));
}

test.each([
  ['customerName', { customerName: 'Abebe\nBikila' }],
  ['customerName', { customerName: 'Abebe\u0007' }],
  ['customerName', { customerName: '\u009bAbebe' }],
  ['metadata.table', { metadata: { table: 'a\tb' } }],
  ['metadata.ta\u001bble', { metadata: { 'ta\u001bble': 'a' } }],
  ['successUrl', { successUrl: 'https://shop.example/a\nb' }],
])('control characters in %j of a new session are refused by name', (field, fields) => {
  expect(refused(NewSession.safeParse({ ...session, ...fields }))).toEqual([field]);
});

test.each(['claimedStatus', 'reason', 'providerReference'])('control characters in %s of a claim are', (field) => {
  expect(refused(ClaimBody.safeParse({ [field]: 'a\u0008b' }))).toEqual([field]);
});

test('letters of any script are taken', () => {
  const text = 'አበበ ቢቂላ – não 👍';
  expect(refused(NewSession.safeParse({ ...session, customerName: text, metadata: { [text]: text } }))).toEqual([]);
  expect(refused(ClaimBody.safeParse({ reason: text }))).toEqual([]);
});
