import type { Random } from './random.ts';

/** A customer's details, as far as the merchant sends them. */
export type Customer = { customerName?: string; customerEmail?: string; customerPhone?: string };

type Name = { ethiopic: string; latin: string };

const GIVEN: readonly [Name, ...Name[]] = [
  { ethiopic: 'አበበ', latin: 'Abebe' },
  { ethiopic: 'ሰላም', latin: 'Selam' },
  { ethiopic: 'ዳዊት', latin: 'Dawit' },
  { ethiopic: 'ሄለን', latin: 'Helen' },
  { ethiopic: 'ዮሐንስ', latin: 'Yohannes' },
  { ethiopic: 'ትዕግስት', latin: 'Tigist' },
  { ethiopic: 'ሳሙኤል', latin: 'Samuel' },
  { ethiopic: 'ማርታ', latin: 'Marta' },
  { ethiopic: 'ብርሃኑ', latin: 'Birhanu' },
  { ethiopic: 'ሐና', latin: 'Hanna' },
  { ethiopic: 'ከበደ', latin: 'Kebede' },
  { ethiopic: 'ራሔል', latin: 'Rahel' },
  { ethiopic: 'ቤተልሔም', latin: 'Bethlehem' },
  { ethiopic: 'መሐመድ', latin: 'Mohammed' },
  { ethiopic: 'ፋጡማ', latin: 'Fatuma' },
  { ethiopic: 'ጫልቱ', latin: 'Chaltu' },
];

const FATHERS: readonly [Name, ...Name[]] = [
  { ethiopic: 'ተፈሪ', latin: 'Teferi' },
  { ethiopic: 'ገብረመድህን', latin: 'Gebremedhin' },
  { ethiopic: 'አለሙ', latin: 'Alemu' },
  { ethiopic: 'በቀለ', latin: 'Bekele' },
  { ethiopic: 'ታደሰ', latin: 'Tadesse' },
  { ethiopic: 'ኃይሉ', latin: 'Hailu' },
  { ethiopic: 'መንግስቱ', latin: 'Mengistu' },
  { ethiopic: 'ግርማ', latin: 'Girma' },
  { ethiopic: 'አሰፋ', latin: 'Assefa' },
  { ethiopic: 'ደሳለኝ', latin: 'Desalegn' },
  { ethiopic: 'ሙሉጌታ', latin: 'Mulugeta' },
  { ethiopic: 'ዑመር', latin: 'Umer' },
];

/** A customer; one payment in seven has no details. */
export function drawCustomer(random: Random): Customer {
  const given = random.pick(GIVEN);
  const father = random.pick(FATHERS);
  const phone = `251900${String(random.below(1_000_000)).padStart(6, '0')}`;
  const spelling = random.chance(0.45) ? 'ethiopic' : 'latin';
  const detail = random.fraction();
  if (detail < 0.14) return {};
  return {
    customerName: `${given[spelling]} ${father[spelling]}`,
    customerPhone: phone,
    ...(detail < 0.6 ? {} : { customerEmail: `${given.latin}.${father.latin}@example.com`.toLowerCase() }),
  };
}
