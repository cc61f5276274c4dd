import { createHash, generateKeyPairSync } from 'node:crypto';

import { signCbeBirr, verifyCbeBirr } from '../../src/providers/cbe-birr/signing.ts';
import { fromPlainOrderId, toPlainOrderId } from '../../src/providers/exchange.ts';
import {
  signTelebirr,
  telebirrSigningText,
  verifyTelebirr,
  type RsaScheme,
} from '../../src/providers/telebirr/signing.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const preOrder = {
  timestamp: '1700000000',
  nonce_str: 'abc',
  method: 'payment.preorder',
  version: '1.0',
  sign: 'left out',
  sign_type: 'SHA256WithRSA',
  header: { left: 'out' },
  raw_request: 'left out',
  biz_content: {
    total_amount: '10.00',
    appid: '1',
    notify_url: 'https://shop.example/cb?a=1&b=2',
    openType: 'left out',
    refund_info: { left: 'out' },
  },
};

test('telebirr signs top-level and nested fields together, sorted by name, without the fields it leaves out', () => {
  expect(telebirrSigningText(preOrder)).toBe(
    'appid=1&method=payment.preorder&nonce_str=abc&notify_url=https://shop.example/cb?a=1&b=2' +
      '&timestamp=1700000000&total_amount=10.00&version=1.0',
  );
});

describe.each(['PSS', 'PKCS1'] satisfies RsaScheme[])('telebirr with %s', (scheme) => {
  const sign = signTelebirr(preOrder, { key: privateKey, scheme });
  const key = { key: publicKey, scheme };

  test('a signature of the same fields is accepted in any order', () => {
    const { biz_content, ...rest } = preOrder;
    expect(verifyTelebirr({ biz_content, ...rest, sign }, key)).toBe(true);
  });

  test('a changed, added or removed field makes the signature invalid', () => {
    const { version: _version, ...shorter } = preOrder;
    expect(verifyTelebirr({ ...preOrder, timestamp: '1700000001', sign }, key)).toBe(false);
    expect(verifyTelebirr({ ...preOrder, more: '1', sign }, key)).toBe(false);
    expect(verifyTelebirr({ ...shorter, sign }, key)).toBe(false);
    const dearer = { ...preOrder.biz_content, total_amount: '1.00' };
    expect(verifyTelebirr({ ...preOrder, biz_content: dearer, sign }, key)).toBe(false);
  });

  test('a signature with the other padding is rejected', () => {
    const other = scheme === 'PSS' ? 'PKCS1' : 'PSS';
    expect(verifyTelebirr({ ...preOrder, sign }, { key: publicKey, scheme: other })).toBe(false);
  });

  test.each(['', 'nonsense', '====', 'A'.repeat(344), 5, null, undefined, {}, []])(
    'the text %p is rejected as a signature',
    (wrong) => {
      expect(verifyTelebirr({ ...preOrder, sign: wrong }, key)).toBe(false);
    },
  );
});

test('CBE Birr hashes its sorted fields with the key among them', () => {
  const message = { tillCode: '2', amount: '10.00', transactionId: 'pat_1', signature: 'left out' };
  const expected = createHash('sha256').update('amount=10.00&key=secret&tillCode=2&transactionId=pat_1').digest('hex');
  expect(signCbeBirr(message, 'secret')).toBe(expected);
  expect(verifyCbeBirr({ ...message, signature: expected }, 'secret')).toBe(true);
  expect(verifyCbeBirr({ ...message, signature: expected }, 'another')).toBe(false);
  expect(verifyCbeBirr({ ...message, amount: '11.00', signature: expected }, 'secret')).toBe(false);
  for (const wrong of ['', expected.slice(1), `${expected}0`, undefined, 7, {}]) {
    expect(verifyCbeBirr({ ...message, signature: wrong }, 'secret')).toBe(false);
  }
});

test('a key inside a CBE Birr message does not replace ours', () => {
  const forged = { amount: '10.00', key: 'theirs' };
  expect(verifyCbeBirr({ ...forged, signature: signCbeBirr(forged, 'theirs') }, 'ours')).toBe(false);
});

test('an order id is the same after conversion for telebirr and back', () => {
  const orderId = 'pat_01JD0000000000000000000000';
  expect(toPlainOrderId(orderId)).toBe('pat01JD0000000000000000000000');
  expect(fromPlainOrderId(toPlainOrderId(orderId))).toBe(orderId);
  expect(toPlainOrderId('wd_01JD0000000000000000000000')).toBe('wd01JD0000000000000000000000');
  expect(fromPlainOrderId('wd01JD0000000000000000000000')).toBe('wd_01JD0000000000000000000000');
  for (const foreign of ['', 'wd01JD', 'wd_', '_01JD', 'wd_01jd', 'withdrawal_01JD']) {
    expect(() => toPlainOrderId(foreign)).toThrow('not of the form');
  }
  for (const foreign of ['', 'PAT01', 'pat', '01JD', 'pat_01JD', 'pat01-', 7, null]) {
    expect(fromPlainOrderId(foreign)).toBeNull();
  }
});
