/** Holidays on which banks are closed, by the names of the API; those that operators have added have none here. */
export const HOLIDAYS: Readonly<Record<string, string>> = {
  Genna: 'ገና',
  Timkat: 'ጥምቀት',
  'Adwa Victory Day': 'የዓድዋ ድል በዓል',
  Siklet: 'ስቅለት',
  Fasika: 'ፋሲካ',
  'Labour Day': 'የሠራተኞች ቀን',
  "Patriots' Day": 'የአርበኞች ቀን',
  Enkutatash: 'እንቁጣጣሽ',
  Meskel: 'መስቀል',
  'Eid al-Fitr': 'ዒድ አል ፈጥር',
  Arafa: 'ዐረፋ',
  Mawlid: 'መውሊድ',
};
