import { catalogue } from '../../ui/language.ts';

/** The texts of saved views. */
export const text = catalogue({
  views: ['Views', 'ዕይታዎች'],
  today: ['Today', 'ዛሬ'],
  failedThisWeek: ['Failed this week', 'በዚህ ሳምንት ያልተሳኩ'],
  pendingLong: ['Pending over 1 h', 'ከ1 ሰዓት በላይ በመጠባበቅ ላይ'],
  held: ['Held', 'የተያዙ'],
  shared: ['Shared', 'የተጋራ'],
  shareOne: ['Share', 'አጋራ'],
  by: (name: string) => [`by ${name}`, `በ${name}`],
  remove: (name: string) => [`Delete ${name}`, `${name}ን ሰርዝ`],
  saveAs: ['Save this filter as', 'ይህን ማጣሪያ አስቀምጥ እንደ'],
  share: ['Share with everybody of the merchant', 'ለነጋዴው አባላት ሁሉ አጋራ'],
  save: ['Save', 'አስቀምጥ'],
});
