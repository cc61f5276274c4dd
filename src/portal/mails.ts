import type { Language } from '../http/language.ts';
import type { MemberRole } from '../http/people.ts';

type Text = { subject: string; text: string };

type Invitation = { merchantName: string; inviterName: string; role: MemberRole; link: string };

/** The mail of an invitation, in the language of the inviter. */
export function invitationMail(language: Language, { merchantName, inviterName, role, link }: Invitation): Text {
  if (language === 'am') {
    return {
      subject: `የ${merchantName} ግብዣ በMeskot`,
      text: `${inviterName} በMeskot ላይ ወደ ${merchantName} (${role}) ጋብዘውዎታል።\n\nግብዣውን በ3 ቀናት ውስጥ በዚህ አገናኝ ይቀበሉ፦\n${link}\n\nአገናኙ አንድ ጊዜ ብቻ ይሠራል።`,
    };
  }
  return {
    subject: `Invitation to ${merchantName} on Meskot`,
    text: `${inviterName} invites you to ${merchantName} on Meskot, as ${role}.\n\nAccept within 3 days:\n${link}\n\nThe link works once.`,
  };
}

/** The mail of a password reset. */
export function resetMail(language: Language, link: string): Text {
  return language === 'am'
    ? {
        subject: 'አዲስ የይለፍ ቃል በMeskot',
        text: `አዲስ የይለፍ ቃል በ1 ሰዓት ውስጥ በዚህ አገናኝ ያስገቡ፦\n${link}\n\nእርስዎ ካልጠየቁ ምንም ማድረግ አያስፈልግም።`,
      }
    : {
        subject: 'A new password for Meskot',
        text: `Set a new password within 1 hour:\n${link}\n\nIf you did not ask for it, there is nothing to do.`,
      };
}

const SECURITY_TEXTS = {
  password: {
    en: 'Your password was changed, and all other sessions have ended.',
    am: 'የይለፍ ቃልዎ ተቀይሯል፤ ሌሎች ቆይታዎች ሁሉ አብቅተዋል።',
  },
  passkey: {
    en: 'A passkey was added to your account. It opens the account without the password, and a new password does not end it: remove it under Security if it is not yours.',
    am: 'በአካውንትዎ ላይ የይለፍ ቁልፍ (passkey) ታክሏል። ያለ ይለፍ ቃል አካውንቱን ይከፍታል፤ አዲስ የይለፍ ቃልም አያስቆመውም። የእርስዎ ካልሆነ በደህንነት ገጽ ላይ ያስወግዱት።',
  },
  twoFactorOff: {
    en: 'Two-factor authentication was turned off for your account.',
    am: 'በአካውንትዎ ላይ ያለው ሁለት ደረጃ ማረጋገጫ ጠፍቷል።',
  },
};

/** The mail about a change to how a person signs in, so that nobody else makes one unnoticed. */
export function securityMail(language: Language, change: keyof typeof SECURITY_TEXTS): Text {
  const text = SECURITY_TEXTS[change][language];
  return language === 'am'
    ? {
        subject: 'የMeskot አካውንትዎ ደህንነት',
        text: `${text}\n\nይህን ያደረጉት እርስዎ ካልሆኑ አሁኑኑ አዲስ የይለፍ ቃል ይጠይቁ፣ የድርጅቱን ባለቤትም ያሳውቁ።`,
      }
    : {
        subject: 'Security of your Meskot account',
        text: `${text}\n\nIf this was not you, ask for a new password at once, and inform an owner of your business.`,
      };
}

/** The mail of a sign-up; `link`: null for an address that has an account. */
export function signUpMail(language: Language, link: string | null, signInLink: string): Text {
  if (language === 'am') {
    const text =
      link === null
        ? `ይህ አድራሻ በMeskot ላይ አካውንት አለው። ይግቡ፦\n${signInLink}`
        : `አካውንትዎን በ24 ሰዓታት ውስጥ በዚህ አገናኝ ይክፈቱ፦\n${link}\n\nአገናኙ አንድ ጊዜ ብቻ ይሠራል።`;
    return { subject: 'የMeskot አካውንትዎ', text };
  }
  const text =
    link === null
      ? `This address has an account on Meskot. Sign in:\n${signInLink}`
      : `Complete your account within 24 hours:\n${link}\n\nThe link works once.`;
  return { subject: 'Your account on Meskot', text };
}

/** The mail to all operators about an admin who was made without any of them, in both languages. */
export function newAdminMail({ name, email, operatorId }: { name: string; email: string; operatorId: string }): Text {
  return {
    subject: 'A new admin of Meskot · አዲስ የMeskot አስተዳዳሪ',
    text: `${name} (${email}, ${operatorId}) became an operator with the role admin, from the server's shell.

If nobody of you has done this, deactivate the operator at once, and find out who has access to the server.

${name} (${email}፣ ${operatorId}) ከሰርቨሩ ሼል admin የሚል ሚና ያለው ኦፕሬተር ሆነዋል።

ይህን ያደረገው ከእናንተ ማንም ካልሆነ ኦፕሬተሩን አሁኑኑ ያቁሙ፤ ሰርቨሩን ማን መጠቀም እንደሚችልም ያጣሩ።`,
  };
}
