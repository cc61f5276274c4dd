import { catalogue } from '../../ui/language.ts';

/** The texts of applications. */
export const text = catalogue(
  {
    submission: 'Submission',
    tier: 'Tier',
    submittedAt: 'Submitted at',
    decidedBy: 'Decided by',
    decidedAt: 'Decided at',
    details: 'What the merchant declares',
    documents: 'Documents',
    noDocument: 'No document is uploaded.',
    save: 'Save',
  },
  {
    submission: 'ያቀረበበት ቁጥር',
    tier: 'ደረጃ',
    submittedAt: 'የቀረበበት ጊዜ',
    decidedBy: 'የወሰነው',
    decidedAt: 'የተወሰነበት ጊዜ',
    details: 'ነጋዴው የገለጸው',
    documents: 'ሰነዶች',
    noDocument: 'የተጫነ ሰነድ የለም።',
    save: 'አስቀምጥ',
  },
);

/** The states of an application. */
export const STATES: Readonly<Record<string, string>> = catalogue(
  {
    NOT_STARTED: 'Not started',
    SUBMITTED: 'Submitted',
    UNDER_REVIEW: 'Under review',
    MORE_INFO_NEEDED: 'More information needed',
    APPROVED: 'Approved',
    REJECTED: 'Rejected',
  },
  {
    NOT_STARTED: 'አልተጀመረም',
    SUBMITTED: 'ቀርቧል',
    UNDER_REVIEW: 'በምርመራ ላይ',
    MORE_INFO_NEEDED: 'ተጨማሪ መረጃ ያስፈልጋል',
    APPROVED: 'ጸድቋል',
    REJECTED: 'ውድቅ ተደርጓል',
  },
);

/** The entries of an application's timeline. */
export const STEPS: Readonly<Record<string, string>> = catalogue(
  {
    'application.saved': 'Details saved',
    'document.uploaded': 'Document uploaded',
    'application.submitted': 'Submitted',
    'review.started': 'Review begun',
    'review.approved': 'Approved',
    'review.rejected': 'Rejected',
    'review.more_info_needed': 'More information asked for',
    'tier.changed': 'Tier changed',
  },
  {
    'application.saved': 'ዝርዝሮች ተቀምጠዋል',
    'document.uploaded': 'ሰነድ ተጭኗል',
    'application.submitted': 'ቀርቧል',
    'review.started': 'ምርመራ ተጀምሯል',
    'review.approved': 'ጸድቋል',
    'review.rejected': 'ውድቅ ተደርጓል',
    'review.more_info_needed': 'ተጨማሪ መረጃ ተጠይቋል',
    'tier.changed': 'ደረጃው ተለውጧል',
  },
);
