import { catalogue } from '../../ui/language.ts';
import type { Proposal } from '../routes.ts';

/** The texts of proposals. */
export const text = catalogue(
  {
    title: 'Proposals',
    none: 'There is no such proposal.',
    changes: 'What it changes',
    action: 'Action',
    resource: 'Of',
    proposedBy: 'Proposed by',
    proposedAt: 'Proposed at',
    expiresAt: 'Expires at',
    decidedBy: 'Decided by',
    decidedAt: 'Decided at',
    decisionReason: 'Reason of the decision',
    yours: 'You proposed this: another operator has to confirm it.',
  },
  {
    title: 'ሐሳቦች',
    none: 'እንዲህ ያለ ሐሳብ የለም።',
    changes: 'የሚለውጠው',
    action: 'ተግባር',
    resource: 'የ',
    proposedBy: 'ያቀረበው',
    proposedAt: 'የቀረበበት ጊዜ',
    expiresAt: 'የሚያበቃበት ጊዜ',
    decidedBy: 'የወሰነው',
    decidedAt: 'የተወሰነበት ጊዜ',
    decisionReason: 'የውሳኔው ምክንያት',
    yours: 'ይህን ያቀረቡት እርስዎ ነዎት፦ ሌላ ኦፕሬተር ማረጋገጥ አለበት።',
  },
);

/** The state of a proposal. */
export const STATES: Record<Proposal['status'], string> = catalogue(
  {
    PENDING: 'To confirm',
    CONFIRMED: 'Confirmed',
    REJECTED: 'Rejected',
    WITHDRAWN: 'Withdrawn',
    EXPIRED: 'Expired',
  },
  {
    PENDING: 'ማረጋገጫ ይጠብቃል',
    CONFIRMED: 'ተረጋግጧል',
    REJECTED: 'ውድቅ ተደርጓል',
    WITHDRAWN: 'ተነስቷል',
    EXPIRED: 'ጊዜው አልፏል',
  },
);
