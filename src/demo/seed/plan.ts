import { DAY_MS, HOUR_MS, addisDay, inAddis } from '../../lib/dates.ts';
import { type DemoChannel, type PlannedPayment, SCENARIOS, type Scenario } from './payments.ts';

const OPEN_MINUTES = 24 * 60;
const USUAL_MINUTES = 30;

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

const GIVEN = ['አበበ Abebe', 'ሰላም Selam', 'ዳዊት Dawit', 'ሄለን Helen', 'ትዕግስት Tigist', 'መሐመድ Mohammed', 'ጫልቱ Chaltu'];
const FATHERS = ['ተፈሪ Teferi', 'አለሙ Alemu', 'በቀለ Bekele', 'ኃይሉ Hailu', 'መንግስቱ Mengistu', 'ዑመር Umer'];

/** How busy a coffee shop is in each hour of an Addis day: mornings, lunch above all, early evenings. */
const HOUR_WEIGHTS = [0, 0, 0, 0, 0, 1, 4, 9, 10, 7, 6, 9, 18, 15, 8, 6, 6, 9, 10, 8, 5, 3, 1, 0] as const;
/** From Sunday to Saturday. */
const WEEKDAY_WEIGHTS = [0.35, 1, 1, 1.05, 1.05, 1.2, 0.75] as const;
const HOLIDAY_WEIGHT = 0.15;
const WEIGHT_MAX = Math.max(...HOUR_WEIGHTS) * Math.max(...WEEKDAY_WEIGHTS);
/** Genna, Timkat, Adwa, Labour Day, Patriots' Day, New Year and Meskel, as month and day: close enough for a quiet day. */
const HOLIDAYS: readonly string[] = ['01-07', '01-19', '03-02', '05-01', '05-05', '09-11', '09-27'];

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
  return drawScenarios(random, plan.count)
    .map((scenario) => ({ scenario, createdAt: drawStart(random, plan, scenario) }))
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    .map((one, index) => ({ ...one, ...drawPayment(random, { plan, scenario: one.scenario, number: index + 1 }) }));
}

/** Every scenario by its share; the rest is `paid`. */
function drawScenarios(random: Random, count: number): Scenario[] {
  const shares = Object.entries(SCENARIOS) as [Scenario, { share: number }][];
  const special = shares.flatMap(([scenario, { share }]) =>
    Array<Scenario>(scenario === 'paid' ? 0 : Math.round((count * share) / 1000)).fill(scenario),
  );
  return [...special, ...Array<Scenario>(count - special.length).fill('paid')]
    .map((value) => ({ value, rank: random.fraction() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ value }) => value);
}

/** By business hours; open ones dense towards the end: some customers have the page open right now. */
function drawStart(random: Random, { until, days }: Plan, scenario: Scenario): Date {
  if (scenario === 'stillOpen') return new Date(until.getTime() - random.fraction() ** 2 * 12 * HOUR_MS);
  const fromMs = until.getTime() - days * DAY_MS;
  for (;;) {
    const instant = new Date(fromMs + random.below(days * DAY_MS - HOUR_MS));
    if (random.chance(weightAt(instant) / WEIGHT_MAX)) return instant;
  }
}

/** How likely a payment is at this time, relative to other times. */
function weightAt(instant: Date): number {
  const addis = inAddis(instant);
  const isHoliday = HOLIDAYS.includes(addisDay(instant).slice(5));
  const ofDay = isHoliday ? HOLIDAY_WEIGHT : (WEEKDAY_WEIGHTS[addis.getUTCDay()] ?? 1);
  return ofDay * (HOUR_WEIGHTS[addis.getUTCHours()] ?? 0);
}

function drawPayment(random: Random, { plan, scenario, number }: { plan: Plan; scenario: Scenario; number: number }) {
  const { item, priceSantim, quantityMax } = random.pickWeighted(MENU);
  const quantity = 1 + random.below(quantityMax);
  return {
    session: {
      checkoutOrderNo: `${plan.orderPrefix}-${String(number).padStart(5, '0')}`,
      amountSantim: BigInt(priceSantim * quantity),
      currency: 'ETB' as const,
      type: random.chance(0.2) ? ('QRCODE' as const) : ('API' as const),
      expiresInMinutes: scenario === 'stillOpen' ? OPEN_MINUTES : USUAL_MINUTES,
      ...drawCustomer(random),
      ...(random.chance(0.5) ? { metadata: { item, quantity: String(quantity) } } : {}),
      locale: random.chance(0.4) ? ('am' as const) : ('en' as const),
    },
    channel: random.pickWeighted(plan.channels),
    stepMs: 5_000 + random.below(55_000),
    // The number keeps it unique.
    providerReference: `DEMO${String(random.below(1_000_000_000)).padStart(9, '0')}${number}`,
  };
}

/** A customer's details, as far as the merchant sends them; one payment in seven has none. */
function drawCustomer(random: Random) {
  const names = [random.pick(GIVEN).split(' '), random.pick(FATHERS).split(' ')];
  const letters = random.chance(0.45) ? 0 : 1;
  const detail = random.fraction();
  if (detail < 0.14) return {};
  return {
    customerName: names.map((name) => name[letters]).join(' '),
    customerPhone: `251900${String(random.below(1_000_000)).padStart(6, '0')}`,
    ...(detail > 0.6 && { customerEmail: `${names.map((name) => name[1]).join('.')}@example.com`.toLowerCase() }),
  };
}

export type Weighted<T> = { weight: number; value: T };

export type Random = ReturnType<typeof createRandom>;

/**
 * Pseudo-random numbers, the same for the same seed, so that the demo data is reproducible. The generator mulberry32:
 * 32 bits of state suffice for demo data.
 */
export function createRandom(seed: number) {
  let state = seed;
  /** 0 ≤ … < 1 */
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number from 0 to `limit` - 1. */
  const below = (limit: number): number => Math.floor(fraction() * limit);
  /** Weights need not sum to 1. */
  const pickWeighted = <T>(list: readonly Weighted<T>[]): T => {
    let rest = fraction() * list.reduce((sum, { weight }) => sum + weight, 0);
    const found = list.find(({ weight }) => (rest -= weight) < 0) ?? list.at(-1);
    if (!found) throw new Error('There is nothing to pick from.');
    return found.value;
  };
  return {
    fraction,
    below,
    pickWeighted,
    pick: <T>(list: readonly T[]): T => pickWeighted(list.map((value) => ({ weight: 1, value }))),
    chance: (probability: number): boolean => fraction() < probability,
  };
}
