import type { Language } from '../http/language.ts';
import type { Notice } from '../outbox/mail.ts';

type Written = { subject: string; text: string };
/** `path`: of the page in the portal that the mail leads to. */
type Texts = Record<Language, Written> & { path: string };

/** Writes the mails to members of a merchant, with links to the portal at this address. */
export const createNoticeWriter =
  (portalUrl: string) =>
  (notice: Notice, language: Language): Written => {
    const base = `${portalUrl}/${notice.environment === 'live' ? 'live' : 'test'}`;
    const { path, ...texts } = (TEXTS[notice.kind] as (of: Notice) => Texts)(notice);
    const { subject, text } = texts[language];
    const mark = notice.environment === 'live' ? '' : { en: '[TEST] ', am: '[ሙከራ] ' }[language];
    return { subject: mark + subject, text: `${text}\n\n${base}${path}` };
  };

type Of<Kind extends Notice['kind']> = Extract<Notice, { kind: Kind }>;

const REPORTS_OF = {
  payments: { en: 'payments', am: 'የክፍያዎች' },
  refunds: { en: 'refunds', am: 'የተመላሽ ክፍያዎች' },
  withdrawals: { en: 'withdrawals', am: 'የወጪዎች' },
  settlements: { en: 'settlements', am: 'ወደ ባንክ የተደረጉ ዝውውሮች' },
  balance: { en: 'the balance', am: 'የቀሪ ሂሳብ' },
};

const TEXTS: { [Kind in Notice['kind']]: (notice: Of<Kind>) => Texts } = {
  'settlement.sent': ({ merchantName, settlementId, requestId, amount, bankCode, accountEnd, expectedUntil }) => ({
    path: `/settlements?open=${settlementId}`,
    en: {
      subject: `Settlement ${requestId} of ${amount} ETB was sent`,
      text: `The settlement ${requestId} of ${merchantName}, ${amount} ETB, was sent to ${bankCode}, account ending in ${accountEnd}.\nIt is expected by ${expectedUntil}.`,
    },
    am: {
      subject: `${requestId} (${amount} ብር) ወደ ባንክ ተልኳል`,
      text: `የ${merchantName} ክፍያ ${requestId}፣ ${amount} ብር፣ ወደ ${bankCode} በ${accountEnd} ወደሚያበቃው ሂሳብ ተልኳል።\nእስከ ${expectedUntil} ድረስ ይጠበቃል።`,
    },
  }),
  'withdrawal.awaiting': ({ merchantName, withdrawalId, requestId, amount, channel, until, count = 1 }) =>
    count > 1
      ? {
          path: '/withdrawals?stage=AWAITING_CONFIRMATION',
          en: {
            subject: `${count} withdrawals of ${amount} ETB in all have to be confirmed`,
            text: `${count} withdrawals of ${merchantName}, ${amount} ETB in all, are sent once a person who did not request them has confirmed them. Until then their amounts are reserved. From ${until} on, those that are not confirmed are cancelled, 7 days after their request.`,
          },
          am: {
            subject: `${count} ወጪዎች (በድምሩ ${amount} ብር) ማረጋገጫ ይጠብቃሉ`,
            text: `የ${merchantName} ${count} ወጪዎች፣ በድምሩ ${amount} ብር፣ ያልጠየቃቸው ሌላ ሰው ሲያረጋግጣቸው ይላካሉ። እስከዚያ ድረስ ገንዘቡ ተይዞ ይቆያል። ከ${until} ጀምሮ ያልተረጋገጡት ከተጠየቁ 7 ቀናት በኋላ ይሰረዛሉ።`,
          },
        }
      : {
          path: `/withdrawals?open=${withdrawalId}`,
          en: {
            subject: `Withdrawal ${requestId} of ${amount} ETB has to be confirmed`,
            text: `The withdrawal ${requestId} of ${merchantName}, ${amount} ETB over ${channel}, is sent once a person who did not request it has confirmed it. Until then its amount is reserved. If it is not confirmed by ${until}, it is cancelled.`,
          },
          am: {
            subject: `ወጪ ${requestId} (${amount} ብር) ማረጋገጫ ይጠብቃል`,
            text: `የ${merchantName} ወጪ ${requestId}፣ ${amount} ብር በ${channel}፣ ያልጠየቀው ሌላ ሰው ሲያረጋግጠው ይላካል። እስከዚያ ድረስ ገንዘቡ ተይዞ ይቆያል። እስከ ${until} ካልተረጋገጠ ይሰረዛል።`,
          },
        },
  'refund.awaiting': ({ merchantName, transactionId, reference, amount, until, count = 1 }) =>
    count > 1
      ? {
          path: '/refunds?stage=AWAITING_CONFIRMATION',
          en: {
            subject: `${count} refunds of ${amount} ETB in all have to be confirmed`,
            text: `${count} refunds of ${merchantName}, ${amount} ETB in all, are sent to the customers once a person who did not request them has confirmed them. Until then their amounts are reserved. From ${until} on, those that are not confirmed fail, 7 days after their request.`,
          },
          am: {
            subject: `${count} ተመላሽ ክፍያዎች (በድምሩ ${amount} ብር) ማረጋገጫ ይጠብቃሉ`,
            text: `የ${merchantName} ${count} ተመላሽ ክፍያዎች፣ በድምሩ ${amount} ብር፣ ያልጠየቃቸው ሌላ ሰው ሲያረጋግጣቸው ለከፋዮቹ ይላካሉ። እስከዚያ ድረስ ገንዘቡ ተይዞ ይቆያል። ከ${until} ጀምሮ ያልተረጋገጡት ከተጠየቁ 7 ቀናት በኋላ አይመለሱም።`,
          },
        }
      : {
          path: `/transactions/${transactionId}`,
          en: {
            subject: `Refund ${reference} of ${amount} ETB has to be confirmed`,
            text: `The refund ${reference} of ${merchantName}, ${amount} ETB, is sent to the customer once a person who did not request it has confirmed it. Until then its amount is reserved. If it is not confirmed by ${until}, it fails.`,
          },
          am: {
            subject: `ተመላሽ ክፍያ ${reference} (${amount} ብር) ማረጋገጫ ይጠብቃል`,
            text: `የ${merchantName} ተመላሽ ክፍያ ${reference}፣ ${amount} ብር፣ ያልጠየቀው ሌላ ሰው ሲያረጋግጠው ለከፋዩ ይላካል። እስከዚያ ድረስ ገንዘቡ ተይዞ ይቆያል። እስከ ${until} ካልተረጋገጠ አይመለስም።`,
          },
        },
  'withdrawal.unconfirmed': ({ merchantName, withdrawalId, requestId, amount, channel, count = 1 }) =>
    count > 1
      ? {
          path: '/withdrawals?status=CANCELLED',
          en: {
            subject: `${count} withdrawals of ${amount} ETB in all are cancelled`,
            text: `${count} withdrawals of ${merchantName}, ${amount} ETB in all, were not confirmed within 7 days. They are cancelled, nothing was sent, and their amounts are available again.`,
          },
          am: {
            subject: `${count} ወጪዎች (በድምሩ ${amount} ብር) ተሰርዘዋል`,
            text: `የ${merchantName} ${count} ወጪዎች፣ በድምሩ ${amount} ብር፣ በ7 ቀናት ውስጥ አልተረጋገጡም። ተሰርዘዋል፤ ምንም አልተላከም፤ ገንዘቡን እንደገና መጠቀም ይችላሉ።`,
          },
        }
      : {
          path: `/withdrawals?open=${withdrawalId}`,
          en: {
            subject: `Withdrawal ${requestId} of ${amount} ETB is cancelled`,
            text: `The withdrawal ${requestId} of ${merchantName}, ${amount} ETB over ${channel}, was not confirmed within 7 days. It is cancelled, nothing was sent, and its amount is available again.`,
          },
          am: {
            subject: `ወጪ ${requestId} (${amount} ብር) ተሰርዟል`,
            text: `የ${merchantName} ወጪ ${requestId}፣ ${amount} ብር በ${channel}፣ በ7 ቀናት ውስጥ አልተረጋገጠም። ተሰርዟል፤ ምንም አልተላከም፤ ገንዘቡን እንደገና መጠቀም ይችላሉ።`,
          },
        },
  'report.ready': ({ merchantName, of, isScheduled, startDate, endDate, rows }) => {
    const { en, am } = REPORTS_OF[of];
    const schedule = {
      en: isScheduled ? ' It is requested by a schedule, which can be paused on the page of reports.' : '',
      am: isScheduled ? ' ሪፖርቱ የተዘጋጀው በመርሐ ግብር ነው፤ መርሐ ግብሩን በሪፖርቶች ገጽ ላይ ማቆም ይችላሉ።' : '',
    };
    return {
      path: '/reports',
      en: {
        subject: `Your report of ${en}, ${startDate} to ${endDate}, is ready`,
        text: `The report of ${en} of ${merchantName} from ${startDate} to ${endDate} is ready, with ${rows} rows. It can be downloaded for 30 days.${schedule.en}`,
      },
      am: {
        subject: `ከ${startDate} እስከ ${endDate} ያለው ${am} ሪፖርትዎ ዝግጁ ነው`,
        text: `የ${merchantName} ከ${startDate} እስከ ${endDate} ያለው ${am} ሪፖርት ${rows} ረድፎች ይዞ ዝግጁ ሆኗል። ለ30 ቀናት ማውረድ ይችላሉ።${schedule.am}`,
      },
    };
  },
  'report.failed': ({ merchantName, of, startDate, endDate }) => {
    const { en, am } = REPORTS_OF[of];
    return {
      path: '/reports',
      en: {
        subject: `The report of ${en}, ${startDate} to ${endDate}, failed`,
        text: `The scheduled report of ${en} of ${merchantName} from ${startDate} to ${endDate} could not be generated. The page of reports shows why, and what to change.`,
      },
      am: {
        subject: `ከ${startDate} እስከ ${endDate} ያለው ${am} ሪፖርት አልተሳካም`,
        text: `የ${merchantName} ከ${startDate} እስከ ${endDate} ያለው በመርሐ ግብር የታዘዘው ${am} ሪፖርት ሊዘጋጅ አልቻለም። ምክንያቱና መስተካከል ያለበት በሪፖርቶች ገጽ ላይ ይታያል።`,
      },
    };
  },
  'endpoint.failing': ({ merchantName, host, failures }) => ({
    path: '/webhooks',
    en: {
      subject: `Webhooks to ${host} are failing`,
      text: `The last ${failures} attempts to deliver events of ${merchantName} to ${host} have failed, without a success between them.\nDeliveries are retried; those that are given up can be sent again.\nAt most one mail a day is sent about an endpoint.`,
    },
    am: {
      subject: `ወደ ${host} የሚላኩ ዌብሁኮች አልተሳኩም`,
      text: `የ${merchantName} ክስተቶችን ወደ ${host} ለማድረስ የተደረጉት የመጨረሻዎቹ ${failures} ሙከራዎች ሁሉ አልተሳኩም።\nሙከራው ይቀጥላል፤ የተተዉትን እንደገና መላክ ይችላሉ።\nስለ አንድ አድራሻ በቀን ቢበዛ አንድ ኢሜይል ይላካል።`,
    },
  }),
  'owner.invited': ({ merchantName, email }) => ({
    path: '/team',
    en: {
      subject: `An owner was invited to ${merchantName}`,
      text: `Two operators of Meskot have invited ${email} to ${merchantName} as an owner. The link works for 3 days.\nIf you did not ask for it, revoke the invitation on the page of the team, and inform Meskot.`,
    },
    am: {
      subject: `ወደ ${merchantName} አዲስ ባለቤት ተጋብዟል`,
      text: `ሁለት የMeskot ኦፕሬተሮች ${email} የ${merchantName} ባለቤት እንዲሆን ጋብዘዋል። አገናኙ ለ3 ቀናት ይሠራል።\nይህን እርስዎ ካልጠየቁ ግብዣውን በቡድን ገጽ ላይ ይሰርዙ፣ Meskotንም ያሳውቁ።`,
    },
  }),
};
