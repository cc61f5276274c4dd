import fc from 'fast-check';

import { feeOf, feeWithin, type FeeRule } from '../../src/ledger/fees.ts';

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
