import { catalogue } from '../../ui/language.ts';
import type { Proposal } from '../routes.ts';

/** The texts of proposals. */
export const text = catalogue({
  none: ['There is no proposal.', 'ሐሳብ የለም።'],
  changes: ['What it changes', 'የሚለውጠው'],
  action: ['Action', 'ተግባር'],
  resource: ['Of', 'የ'],
  proposedBy: ['Proposed by', 'ያቀረበው'],
  proposedAt: ['Proposed at', 'የቀረበበት ጊዜ'],
  expiresAt: ['Expires at', 'የሚያበቃበት ጊዜ'],
  decidedBy: ['Decided by', 'የወሰነው'],
  decidedAt: ['Decided at', 'የተወሰነበት ጊዜ'],
  decisionReason: ['Reason of the decision', 'የውሳኔው ምክንያት'],
  yours: ['You proposed this: another operator has to confirm it.', 'ይህን ያቀረቡት እርስዎ ነዎት፦ ሌላ ኦፕሬተር ማረጋገጥ አለበት።'],
});

/** The state of a proposal. */
export const STATES: Record<Proposal['status'], string> = catalogue({
  PENDING: ['To confirm', 'ማረጋገጫ ይጠብቃል'],
  CONFIRMED: ['Confirmed', 'ተረጋግጧል'],
  REJECTED: ['Rejected', 'ውድቅ ተደርጓል'],
  WITHDRAWN: ['Withdrawn', 'ተነስቷል'],
  EXPIRED: ['Expired', 'ጊዜው አልፏል'],
});
