import { catalogue } from '../../ui/language.ts';

/** The texts of applications. */
export const text = catalogue({
  submission: ['Submission', 'ያቀረበበት ቁጥር'],
  tier: ['Tier', 'ደረጃ'],
  submittedAt: ['Submitted at', 'የቀረበበት ጊዜ'],
  decidedBy: ['Decided by', 'የወሰነው'],
  decidedAt: ['Decided at', 'የተወሰነበት ጊዜ'],
  details: ['What the merchant declares', 'ነጋዴው የገለጸው'],
  documents: ['Documents', 'ሰነዶች'],
  noDocument: ['No document is uploaded.', 'የተጫነ ሰነድ የለም።'],
  save: ['Save', 'ያስቀምጡ'],
});

/** The states of an application. */
export const STATES: Readonly<Record<string, string>> = catalogue({
  NOT_STARTED: ['Not started', 'አልተጀመረም'],
  SUBMITTED: ['Submitted', 'ቀርቧል'],
  UNDER_REVIEW: ['Under review', 'በምርመራ ላይ'],
  MORE_INFO_NEEDED: ['More information needed', 'ተጨማሪ መረጃ ያስፈልጋል'],
  APPROVED: ['Approved', 'ጸድቋል'],
  REJECTED: ['Rejected', 'ውድቅ ተደርጓል'],
});

/** The entries of an application's timeline. */
export const STEPS: Readonly<Record<string, string>> = catalogue({
  'application.saved': ['Details saved', 'ዝርዝሮች ተቀምጠዋል'],
  'document.uploaded': ['Document uploaded', 'ሰነድ ተጭኗል'],
  'application.submitted': ['Submitted', 'ቀርቧል'],
  'review.started': ['Review begun', 'ምርመራ ተጀምሯል'],
  'review.approved': ['Approved', 'ጸድቋል'],
  'review.rejected': ['Rejected', 'ውድቅ ተደርጓል'],
  'review.more_info_needed': ['More information asked for', 'ተጨማሪ መረጃ ተጠይቋል'],
  'tier.changed': ['Tier changed', 'ደረጃው ተለውጧል'],
});
