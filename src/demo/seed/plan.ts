import { DAY_MS, HOUR_MS } from '../../lib/dates.ts';
import type { NewSession } from '../../payments/create-session.ts';
import { drawInstants } from './business-hours.ts';
import { drawCustomer } from './customers.ts';
import { createRandom, type Random, type Weighted } from './random.ts';

const OPEN_MINUTES = 24 * 60;
const USUAL_MINUTES = 30;

/** How a payment proceeds; its steps are in payment-scenarios.ts. */
export type Scenario =
  | 'paid'
  | 'paidOnSecondTry'
  | 'paidLate'
  | 'declined'
  | 'declinedThrice'
  | 'leftOpen'
  | 'expiredInFlight'
  | 'cancelled'
  | 'cancelledInFlight'
  | 'stillOpen';

/** In thousandths: 86 % SUCCESS, 6 % FAILED, 4 % EXPIRED, 3 % CANCELLED, 1 % PENDING. The rest is `paid`. */
const SHARES: readonly (readonly [Scenario, number])[] = [
  ['paidOnSecondTry', 35],
  ['paidLate', 3],
  ['declined', 45],
  ['declinedThrice', 15],
  ['leftOpen', 25],
  ['expiredInFlight', 15],
  ['cancelled', 20],
  ['cancelledInFlight', 10],
  ['stillOpen', 10],
];

type Item = { item: string; priceSantim: number; quantityMax: number };

const MENU: readonly Weighted<Item>[] = [
  { weight: 30, value: { item: 'Macchiato', priceSantim: 65_00, quantityMax: 4 } },
  { weight: 22, value: { item: 'Bunna ceremony', priceSantim: 180_00, quantityMax: 6 } },
  { weight: 18, value: { item: 'Sidama beans 250 g', priceSantim: 419_50, quantityMax: 3 } },
  { weight: 14, value: { item: 'Yirgacheffe beans 500 g', priceSantim: 780_00, quantityMax: 4 } },
  { weight: 9, value: { item: 'Harar beans 1 kg', priceSantim: 1_449_75, quantityMax: 5 } },
  { weight: 5, value: { item: 'Office subscription, a month', priceSantim: 4_800_00, quantityMax: 2 } },
  { weight: 2, value: { item: 'Catering for a day', priceSantim: 12_500_00, quantityMax: 2 } },
];

export type DemoChannel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';

/** One payment: the merchant's request, its time, and how it proceeds. */
export type PlannedPayment = {
  createdAt: Date;
  session: NewSession;
  channel: DemoChannel;
  scenario: Scenario;
  /** The time between two steps. */
  stepMs: number;
  providerReference: string;
};

export type Plan = {
  seed: number;
  /** Ended payments began at least an hour before. */
  until: Date;
  days: number;
  count: number;
  orderPrefix: string;
  channels: readonly Weighted<DemoChannel>[];
};

/** The payments of a shop, the earliest first. Deterministic. */
export function planPayments(plan: Plan): PlannedPayment[] {
  const random = createRandom(plan.seed);
  const all = scenariosOf(plan.count);
  const scenarios = shuffled(random, all).filter((scenario) => scenario !== 'stillOpen');
  const from = new Date(plan.until.getTime() - plan.days * DAY_MS);
  const hourAgo = new Date(plan.until.getTime() - HOUR_MS);
  const starts = drawInstants(random, { from, until: hourAgo, count: scenarios.length });
  const over = scenarios.map((scenario, index) => ({ scenario, createdAt: starts[index] ?? from }));
  // Dense towards the end: some customers have the page open right now.
  const open = Array.from({ length: all.length - scenarios.length }, () => {
    const agoMs = random.fraction() ** 2 * 12 * HOUR_MS;
    return { scenario: 'stillOpen' as const, createdAt: new Date(plan.until.getTime() - agoMs) };
  });
  return [...over, ...open]
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    .map((one, index) => ({ ...one, ...drawPayment(random, { plan, scenario: one.scenario, number: index + 1 }) }));
}

/** Every scenario by its share. */
function scenariosOf(count: number): Scenario[] {
  const special = SHARES.flatMap(([scenario, share]) =>
    Array<Scenario>(Math.round((count * share) / 1000)).fill(scenario),
  );
  return [...special, ...Array<Scenario>(count - special.length).fill('paid')];
}

function drawPayment(random: Random, wanted: { plan: Plan; scenario: Scenario; number: number }) {
  const { item, priceSantim, quantityMax } = random.pickWeighted(MENU);
  const quantity = 1 + random.below(quantityMax);
  const session: NewSession = {
    checkoutOrderNo: `${wanted.plan.orderPrefix}-${String(wanted.number).padStart(5, '0')}`,
    amountSantim: BigInt(priceSantim * quantity),
    currency: 'ETB',
    type: random.chance(0.2) ? 'QRCODE' : 'API',
    expiresInMinutes: wanted.scenario === 'stillOpen' ? OPEN_MINUTES : USUAL_MINUTES,
    ...drawCustomer(random),
    ...(random.chance(0.5) ? { metadata: { item, quantity: String(quantity) } } : {}),
    locale: random.chance(0.4) ? 'am' : 'en',
  };
  return {
    session,
    channel: random.pickWeighted(wanted.plan.channels),
    stepMs: 5_000 + random.below(55_000),
    // The number keeps it unique.
    providerReference: `DEMO${String(random.below(1_000_000_000)).padStart(9, '0')}${wanted.number}`,
  };
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, rank: random.fraction() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ value }) => value);
}
