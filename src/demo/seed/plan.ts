import { DAY_MS, HOUR_MS } from '../../lib/dates.ts';
import type { NewSession } from '../../payments/create-session.ts';
import { drawInstants } from './business-hours.ts';
import { drawCustomer } from './customers.ts';
import { createRandom, type Random, type Weighted } from './random.ts';

const OPEN_MINUTES = 24 * 60;
const USUAL_MINUTES = 30;

/** What became of a payment; `journeys.ts` knows the way there. */
export type Journey =
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

/** In thousandths: 86 % SUCCESS, 6 % FAILED, 4 % EXPIRED, 3 % CANCELLED, 1 % PENDING. `paid` takes what is left. */
const SHARES: readonly (readonly [Journey, number])[] = [
  ['paidOnSecondTry', 35],
  ['paidLate', 3],
  ['declined', 45],
  ['declinedThrice', 15],
  ['leftOpen', 25],
  ['expiredInFlight', 15],
  ['cancelled', 20],
  ['cancelledInFlight', 10],
];
const STILL_OPEN_SHARE = 10;

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

/** A channel that demo merchants have. */
export type DemoChannel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';

/** One payment to make: what the merchant asks for, when, and what becomes of it. */
export type PlannedPayment = {
  createdAt: Date;
  session: NewSession;
  channel: DemoChannel;
  journey: Journey;
  /** How long this customer takes for each step. */
  stepMs: number;
  providerReference: string;
};

export type Plan = {
  seed: number;
  /** What is over was begun at least an hour before. */
  until: Date;
  days: number;
  count: number;
  orderPrefix: string;
  channels: readonly Weighted<DemoChannel>[];
};

/** Payments as they come to a shop, the earliest first: always the same ones for the same plan. */
export function planPayments(plan: Plan): PlannedPayment[] {
  const random = createRandom(plan.seed);
  const journeys = shuffled(random, journeysOf(plan.count));
  const stillOpen = Math.round((plan.count * STILL_OPEN_SHARE) / 1000);
  const from = new Date(plan.until.getTime() - plan.days * DAY_MS);
  const hourAgo = new Date(plan.until.getTime() - HOUR_MS);
  const begun = drawInstants(random, { from, until: hourAgo, count: journeys.length });
  const over = journeys.map((journey, index) => ({ journey, createdAt: begun[index] ?? from }));
  // Dense towards the end: some customers are looking at the page right now.
  const open = Array.from({ length: stillOpen }, () => {
    const agoMs = random.fraction() ** 2 * 12 * HOUR_MS;
    return { journey: 'stillOpen' as const, createdAt: new Date(plan.until.getTime() - agoMs) };
  });
  return [...over, ...open]
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    .map((one, index) => ({ ...one, ...drawPayment(random, { plan, journey: one.journey, number: index + 1 }) }));
}

/** Every journey but `stillOpen`, as often as its share. */
function journeysOf(count: number): Journey[] {
  const special = SHARES.flatMap(([journey, share]) =>
    Array<Journey>(Math.round((count * share) / 1000)).fill(journey),
  );
  const stillOpen = Math.round((count * STILL_OPEN_SHARE) / 1000);
  return [...special, ...Array<Journey>(count - stillOpen - special.length).fill('paid')];
}

function drawPayment(random: Random, wanted: { plan: Plan; journey: Journey; number: number }) {
  const { item, priceSantim, quantityMax } = random.pickWeighted(MENU);
  const quantity = 1 + random.below(quantityMax);
  const session: NewSession = {
    checkoutOrderNo: `${wanted.plan.orderPrefix}-${String(wanted.number).padStart(5, '0')}`,
    amountSantim: BigInt(priceSantim * quantity),
    currency: 'ETB',
    type: random.chance(0.2) ? 'QRCODE' : 'API',
    expiresInMinutes: wanted.journey === 'stillOpen' ? OPEN_MINUTES : USUAL_MINUTES,
    ...drawCustomer(random),
    ...(random.chance(0.5) ? { metadata: { item, quantity: String(quantity) } } : {}),
    locale: random.chance(0.4) ? 'am' : 'en',
  };
  return {
    session,
    channel: random.pickWeighted(wanted.plan.channels),
    stepMs: 5_000 + random.below(55_000),
    // By chance alone two of many would be the same.
    providerReference: `DEMO${String(random.below(1_000_000_000)).padStart(9, '0')}${wanted.number}`,
  };
}

/** The same in an order by chance. */
function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, place: random.fraction() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);
}
