/** The months in English, in their order. Intl has the Amharic names. */
const MONTHS = 'Meskerem Tikimt Hidar Tahsas Tir Yekatit Megabit Miazia Ginbot Sene Hamle Nehase Pagumen'.split(' ');

const AMHARIC_MONTH = new Intl.DateTimeFormat('am-u-ca-ethiopic', { month: 'long', timeZone: 'UTC' });

/** A day (YYYY-MM-DD) in the Ethiopian calendar: "13 Hidar 2019", in Amharic "ኅዳር 13 ቀን 2019". */
export function ethiopianDate(day: string, language: 'en' | 'am' = 'en'): string {
  const date = toEthiopian(day);
  if (language === 'am') return `${AMHARIC_MONTH.format(new Date(day))} ${date.day} ቀን ${date.year}`;
  return `${date.day} ${MONTHS[date.month - 1]} ${date.year}`;
}

/** Converts days (YYYY-MM-DD) to another calendar, with months and days from 1. */
function converterTo(calendar: 'ethiopic' | 'islamic-umalqura') {
  const format = new Intl.DateTimeFormat(`en-u-ca-${calendar}-nu-latn`, {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    timeZone: 'UTC',
  });
  return (day: string) => {
    // "3/13/2019 AM"
    const [month = NaN, dayOfMonth = NaN, year = NaN] = format.format(new Date(day)).split(/\D/).map(Number);
    return { year, month, day: dayOfMonth };
  };
}

/** The Ethiopian calendar: twelve months of 30 days, then Pagumen of 5, or 6 before a Gregorian leap year. */
export const toEthiopian = converterTo('ethiopic');

/** The Islamic calendar of Umm al-Qura, computed in advance: a sighting of the moon may differ by a day. */
export const toIslamic = converterTo('islamic-umalqura');
