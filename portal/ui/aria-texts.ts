import { language } from './language.ts';

type ForDates = (values: Record<'date' | 'dateRange' | 'startDate' | 'endDate', string>) => string;
const of = (text: ForDates): ForDates => text;

/** React Aria's own texts, in Amharic, which it lacks: of each of its packages whose components the pages use. */
const AMHARIC = {
  '@react-aria/overlays': { dismiss: 'ይዝጉ' },
  '@react-aria/calendar': {
    previous: 'ቀዳሚ',
    next: 'ቀጣይ',
    selectedDateDescription: of(({ date }) => `የተመረጠው ቀን፦ ${date}`),
    selectedRangeDescription: of(({ dateRange }) => `የተመረጡት ቀናት፦ ${dateRange}`),
    todayDate: of(({ date }) => `ዛሬ፣ ${date}`),
    todayDateSelected: of(({ date }) => `ዛሬ፣ ${date} ተመርጧል`),
    dateSelected: of(({ date }) => `${date} ተመርጧል`),
    startRangeSelectionPrompt: 'የመጀመሪያውን ቀን ለመምረጥ ይጫኑ',
    finishRangeSelectionPrompt: 'የመጨረሻውን ቀን ለመምረጥ ይጫኑ',
    minimumDate: 'የመጀመሪያው የሚመረጥ ቀን',
    maximumDate: 'የመጨረሻው የሚመረጥ ቀን',
    dateRange: of(({ startDate, endDate }) => `ከ${startDate} እስከ ${endDate}`),
  },
};

// Where React Aria looks for texts that a server has sent along.
if (language === 'am') {
  Object.assign(window, {
    [Symbol.for('react-aria.i18n.locale')]: 'am',
    [Symbol.for('react-aria.i18n.strings')]: AMHARIC,
  });
}
