import { catalogue } from '../../ui/language.ts';

/** The texts of saved views. */
export const text = catalogue(
  {
    views: 'Views',
    today: 'Today',
    failedThisWeek: 'Failed this week',
    pendingLong: 'Pending over 1 h',
    held: 'Held',
    shared: 'Shared',
    shareOne: 'Share',
    by: (name: string) => `by ${name}`,
    remove: (name: string) => `Delete ${name}`,
    saveAs: 'Save this filter as',
    share: 'Share with everybody of the merchant',
    save: 'Save',
  },
  {
    views: 'ዕይታዎች',
    today: 'ዛሬ',
    failedThisWeek: 'በዚህ ሳምንት ያልተሳኩ',
    pendingLong: 'ከ1 ሰዓት በላይ በመጠባበቅ ላይ',
    held: 'የተያዙ',
    shared: 'የተጋራ',
    shareOne: 'አጋራ',
    by: (name: string) => `በ${name}`,
    remove: (name: string) => `${name}ን ሰርዝ`,
    saveAs: 'ይህን ማጣሪያ አስቀምጥ እንደ',
    share: 'ለነጋዴው አባላት ሁሉ አጋራ',
    save: 'አስቀምጥ',
  },
);
