import type { MemberRole } from '../../http/people.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { Plan } from './plan.ts';

/** A merchant of the demo data. Its id is constant, so that a later start recognises it. */
export type DemoMerchant = {
  scope: MerchantScope;
  name: string;
  /** An approved merchant has all channels and a bank account; another one has submitted its application. */
  isApproved: boolean;
  plan: Omit<Plan, 'until'>;
};

/** An approved merchant with every feature. */
export const ABYSSINIA: DemoMerchant = {
  scope: { merchantId: 'mrc_01ABYSS1N1AC0FFEE000000000', environment: 'sandbox' },
  name: 'Abyssinia Coffee',
  isApproved: true,
  plan: {
    seed: 20_160_911,
    days: 90,
    count: 3_000,
    orderPrefix: 'ABY',
    channels: [
      { weight: 60, value: 'TELEBIRR' },
      { weight: 30, value: 'CBE_BIRR' },
      { weight: 10, value: 'AWASH' },
    ],
  },
};

/** A merchant since two weeks: KYC submitted, one channel, a few payments, neither key nor subscription. */
export const NEW_SHOP: DemoMerchant = {
  scope: { merchantId: 'mrc_01NEWSH0P00000000000000000', environment: 'sandbox' },
  name: 'New Shop',
  isApproved: false,
  plan: { seed: 20_170_911, days: 14, count: 40, orderPrefix: 'NEW', channels: [{ weight: 1, value: 'TELEBIRR' }] },
};

type DemoPerson = { email: string; name: string; merchantId: string; role: MemberRole };

export const DEMO_PEOPLE: readonly DemoPerson[] = [
  ...peopleOf(ABYSSINIA, 'abyssinia.example', ['Selam Tesfaye', 'Dawit Bekele', 'Hana Girma']),
  ...peopleOf(NEW_SHOP, 'newshop.example', ['Abebe Kebede', 'Marta Alemu', 'Yonas Haile']),
];

/** The operators, with constant ids: one admin confirms what the other proposes. They can sign in to the console. */
export const DEMO_OPERATORS = [
  { id: 'opr_01DEM0PERAT0R0000000000000', name: 'Demo operator', email: 'operator@demo.invalid', role: 'admin' },
  {
    id: 'opr_02DEM0PERAT0R0000000000000',
    name: 'Second demo operator',
    email: 'second.operator@demo.invalid',
    role: 'admin',
  },
  { id: 'opr_03DEM0PERAT0R0000000000000', name: 'Demo support', email: 'support@demo.invalid', role: 'support' },
] as const;

function peopleOf({ scope: { merchantId } }: DemoMerchant, host: string, names: readonly string[]): DemoPerson[] {
  const roles = ['owner', 'finance', 'developer'] as const;
  return roles.map((role, index) => ({ email: `${role}@${host}`, name: names[index] ?? role, merchantId, role }));
}

/** Requests the demo data's payouts and applications: the id of a key that does not exist. */
export const DEMO_KEY_ID = 'key_demo';
