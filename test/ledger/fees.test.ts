import fc from 'fast-check';

import { feeOf, feeReturned, feeWithin, type FeeRule } from '../../src/ledger/fees.ts';

const rule = (changes: Partial<FeeRule> = {}): FeeRule => ({
  id: 'fee_1',
  basisPoints: 250,
  fixedSantim: 0n,
  minSantim: 0n,
  maxSantim: null,
  taxBasisPoints: 1500,
  returnedOnRefund: false,
  ...changes,
});

test.each([
  [100_00n, {}, [2_50n, 38n]], // tax of 37.5 santim: half up
  [1_00n, {}, [3n, 0n]], // 2.5 santim: half up; tax of 0.45
  [1_00n, { basisPoints: 249 }, [2n, 0n]],
  [1_00n, { fixedSantim: 5_00n, basisPoints: 0 }, [5_00n, 75n]],
  [100_00n, { minSantim: 10_00n }, [10_00n, 1_50n]],
  [100_000_00n, { maxSantim: 500_00n }, [500_00n, 75_00n]],
  [100_00n, { taxBasisPoints: 0 }, [2_50n, 0n]],
])('the fee and tax of %s santim with the rule %o are %o', (amountSantim, changes, [feeSantim, feeTaxSantim]) => {
  expect(feeOf(rule(changes), amountSantim)).toEqual({ feeSantim, feeTaxSantim });
});

test('a payment smaller than its fee leaves a net of zero', () => {
  expect(feeWithin(rule({ fixedSantim: 5_00n }), 1_00n)).toEqual({ feeSantim: 86n, feeTaxSantim: 14n });
});

test('a payment that exactly covers its fee and tax is charged the fee of the rule', () => {
  expect(feeWithin(rule({ basisPoints: 0, fixedSantim: 3n }), 3n)).toEqual({ feeSantim: 3n, feeTaxSantim: 0n });
});

const anyRule = fc
  .record({
    basisPoints: fc.integer({ min: 0, max: 10_000 }),
    fixedSantim: fc.bigInt(0n, 100_000_000n),
    minSantim: fc.bigInt(0n, 1_000_000n),
    above: fc.option(fc.bigInt(0n, 100_000_000n), { nil: null }),
    taxBasisPoints: fc.integer({ min: 0, max: 10_000 }),
  })
  .map(({ above, ...rest }) => rule({ ...rest, maxSantim: above === null ? null : rest.minSantim + above }));
const anyAmount = fc.bigInt(1n, 9_000_000_000_000_000n);

test('net, fee and tax are never below zero and always sum to the amount', () => {
  fc.assert(
    fc.property(anyRule, anyAmount, (one, amount) => {
      const { feeSantim, feeTaxSantim } = feeWithin(one, amount);
      const net = amount - feeSantim - feeTaxSantim;
      return feeSantim >= 0n && feeTaxSantim >= 0n && net >= 0n;
    }),
    { numRuns: 2_000 },
  );
});

test('a fee respects its bounds, rises with the amount, and is rounded by at most half a santim per component', () => {
  fc.assert(
    fc.property(anyRule, anyAmount, fc.bigInt(0n, 1_000_000n), (one, amount, more) => {
      const fee = feeOf(one, amount);
      const exact = Number(amount * BigInt(one.basisPoints)) / 10_000 + Number(one.fixedSantim);
      const bounded = fee.feeSantim === one.minSantim || fee.feeSantim === one.maxSantim;
      expect(fee.feeSantim).toBeGreaterThanOrEqual(one.minSantim);
      if (one.maxSantim !== null) expect(fee.feeSantim).toBeLessThanOrEqual(one.maxSantim);
      if (!bounded && exact < 2 ** 40) expect(Math.abs(Number(fee.feeSantim) - exact)).toBeLessThanOrEqual(0.5);
      expect(feeOf(one, amount + more).feeSantim).toBeGreaterThanOrEqual(fee.feeSantim);
    }),
    { numRuns: 2_000 },
  );
});

describe('what a refund gives back of the fee and tax', () => {
  const none = { amountSantim: 0n, feeSantim: 0n, feeTaxSantim: 0n };
  const payment = { paidSantim: 200_00n, fee: { feeSantim: 5_00n, feeTaxSantim: 75n }, before: none };
  const half = { amountSantim: 100_00n, feeSantim: 2_50n, feeTaxSantim: 38n };
  const small = (feeSantim: bigint, feeTaxSantim: bigint) => {
    return { paidSantim: 1_00n, fee: { feeSantim, feeTaxSantim }, before: none };
  };

  test.each([
    ['a half', { ...payment, amountSantim: 100_00n }, [2_50n, 38n]],
    ['the other half', { ...payment, before: half, amountSantim: 100_00n }, [2_50n, 37n]],
    ['all', { ...payment, amountSantim: 200_00n }, [5_00n, 75n]],
    ['all, which fee and tax have taken', { ...small(86n, 14n), amountSantim: 1_00n }, [86n, 13n]],
    ['all, which the fee has taken', { ...small(1_00n, 0n), amountSantim: 1_00n }, [99n, 0n]],
    ['a hundredth, of which most was taken', { ...small(60n, 9n), amountSantim: 1n }, [0n, 0n]],
    [
      'a bit after all of the fee',
      { ...payment, before: { ...half, feeSantim: 5_00n }, amountSantim: 1_00n },
      [0n, 0n],
    ],
  ] as const)('for %s', (_of, refunded, [feeSantim, feeTaxSantim]) => {
    expect(feeReturned(refunded)).toEqual({ feeSantim, feeTaxSantim });
  });

  test('is less than its amount, and of any series never more than was taken', () => {
    const parts = fc.array(fc.bigInt(1n, 100_000n), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(anyRule, parts, (one, amounts) => {
        const paidSantim = amounts.reduce((sum, part) => sum + part);
        const fee = feeWithin(one, paidSantim);
        let before = none;
        for (const amountSantim of amounts) {
          const { feeSantim, feeTaxSantim } = feeReturned({ paidSantim, fee, before, amountSantim });
          expect(feeSantim).toBeGreaterThanOrEqual(0n);
          expect(feeTaxSantim).toBeGreaterThanOrEqual(0n);
          expect(feeSantim + feeTaxSantim).toBeLessThan(amountSantim);
          before = {
            amountSantim: before.amountSantim + amountSantim,
            feeSantim: before.feeSantim + feeSantim,
            feeTaxSantim: before.feeTaxSantim + feeTaxSantim,
          };
        }
        expect(before.feeSantim).toBeLessThanOrEqual(fee.feeSantim);
        expect(before.feeTaxSantim).toBeLessThanOrEqual(fee.feeTaxSantim);
      }),
      { numRuns: 1_000 },
    );
  });
});
