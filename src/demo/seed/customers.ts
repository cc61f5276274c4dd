import type { Random } from './random.ts';

/** A customer's details, as far as the merchant sends them. */
export type Customer = { customerName?: string; customerEmail?: string; customerPhone?: string };

/** Names in Ethiopic and Latin letters. */
const GIVEN = readNames(
  'አበበ Abebe, ሰላም Selam, ዳዊት Dawit, ሄለን Helen, ዮሐንስ Yohannes, ትዕግስት Tigist, ሳሙኤል Samuel, ማርታ Marta, ' +
    'ብርሃኑ Birhanu, ሐና Hanna, ከበደ Kebede, ራሔል Rahel, ቤተልሔም Bethlehem, መሐመድ Mohammed, ፋጡማ Fatuma, ጫልቱ Chaltu',
);
const FATHERS = readNames(
  'ተፈሪ Teferi, ገብረመድህን Gebremedhin, አለሙ Alemu, በቀለ Bekele, ታደሰ Tadesse, ኃይሉ Hailu, መንግስቱ Mengistu, ግርማ Girma, ' +
    'አሰፋ Assefa, ደሳለኝ Desalegn, ሙሉጌታ Mulugeta, ዑመር Umer',
);

function readNames(text: string): { ethiopic: string; latin: string }[] {
  return text.split(', ').map((name) => {
    const [ethiopic = '', latin = ''] = name.split(' ');
    return { ethiopic, latin };
  });
}

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
