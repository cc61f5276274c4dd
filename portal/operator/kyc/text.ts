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
