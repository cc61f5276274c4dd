import { catalogue } from '../ui/language.ts';

/** The texts of the search over everything. */
export const text = catalogue({
  title: ['Search', 'ፈልግ'],
  label: ['A screen, an order number, an id or a reference', 'ገጽ፣ የትእዛዝ ቁጥር፣ መለያ ወይም ማጣቀሻ'],
  hint: [
    'Order numbers, customers and references of the last 90 days; ids of any time. Choose with the arrow keys, open with Enter.',
    'ያለፉት 90 ቀናት የትእዛዝ ቁጥሮች፣ ደንበኞችና ማጣቀሻዎች፤ የማንኛውም ጊዜ መለያዎች። በቀስት ቁልፎች ይምረጡ፣ በEnter ይክፈቱ።',
  ],
  screen: ['Screen', 'ገጽ'],
  transaction: ['Transaction', 'ግብይት'],
  withdrawal: ['Withdrawal', 'ወጪ'],
  settlement: ['Settlement', 'ወደ ባንክ ማስተላለፍ'],
  event: ['Event', 'ክስተት'],
  results: (count: number) => [count === 1 ? '1 result' : `${count} results`, `${count} ውጤቶች`],
  none: [
    'Nothing was found. Order numbers and names may be parts; ids and references must be whole.',
    'ምንም አልተገኘም። የትእዛዝ ቁጥሮችና ስሞች በከፊል ሊሆኑ ይችላሉ፤ መለያዎችና ማጣቀሻዎች ሙሉ መሆን አለባቸው።',
  ],
});
