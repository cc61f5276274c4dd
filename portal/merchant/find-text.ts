import { catalogue } from '../ui/language.ts';

/** The texts of the search over everything. */
export const text = catalogue(
  {
    title: 'Search',
    label: 'A screen, an order number, an id or a reference',
    hint: 'Order numbers, customers and references of the last 90 days; ids of any time. Choose with the arrow keys, open with Enter.',
    screen: 'Screen',
    transaction: 'Transaction',
    withdrawal: 'Withdrawal',
    settlement: 'Settlement',
    event: 'Event',
    results: (count: number) => (count === 1 ? '1 result' : `${count} results`),
    none: 'Nothing was found. Order numbers and names may be parts; ids and references must be whole.',
  },
  {
    title: 'ፈልግ',
    label: 'ገጽ፣ የትእዛዝ ቁጥር፣ መለያ ወይም ማጣቀሻ',
    hint: 'ያለፉት 90 ቀናት የትእዛዝ ቁጥሮች፣ ደንበኞችና ማጣቀሻዎች፤ የማንኛውም ጊዜ መለያዎች። በቀስት ቁልፎች ይምረጡ፣ በEnter ይክፈቱ።',
    screen: 'ገጽ',
    transaction: 'ግብይት',
    withdrawal: 'ወጪ',
    settlement: 'ወደ ባንክ ማስተላለፍ',
    event: 'ክስተት',
    results: (count: number) => `${count} ውጤቶች`,
    none: 'ምንም አልተገኘም። የትእዛዝ ቁጥሮችና ስሞች በከፊል ሊሆኑ ይችላሉ፤ መለያዎችና ማጣቀሻዎች ሙሉ መሆን አለባቸው።',
  },
);
