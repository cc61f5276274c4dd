import type { SessionStatus } from '../../../src/payments/states.ts';

const TRY = String.raw`attempt\.started( provider\.responded)?`;
const DECLINED = `(${TRY} attempt\\.declined )*`;

/** The legal timelines by the session's status. */
export const LEGAL: Readonly<Record<SessionStatus, RegExp>> = {
  OPEN: new RegExp(`^session\\.created( ${TRY} attempt\\.declined)*$`),
  PROCESSING: /^never, in the past$/,
  COMPLETED: new RegExp(`^session\\.created ${DECLINED}${TRY} (session\\.(expired|cancelled) )?payment\\.succeeded$`),
  FAILED: new RegExp(`^session\\.created ${DECLINED}${TRY} attempt\\.declined$`),
  CANCELLED: new RegExp(`^session\\.created ${DECLINED}(${TRY} )?session\\.cancelled$`),
  EXPIRED: new RegExp(`^session\\.created ${DECLINED}(${TRY} )?session\\.expired$`),
};
