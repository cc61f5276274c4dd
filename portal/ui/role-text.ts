import type { MemberRole } from '../../src/http/people.ts';
import type { OperatorRole } from '../../src/http/route.ts';
import { catalogue } from './language.ts';

/** The roles of people, at merchants and on the platform. */
export const ROLES: Record<MemberRole | OperatorRole, string> = catalogue({
  owner: ['owner', 'ባለቤት'],
  admin: ['admin', 'አስተዳዳሪ'],
  finance: ['finance', 'ፋይናንስ'],
  developer: ['developer', 'ገንቢ'],
  support: ['support', 'ድጋፍ'],
  viewer: ['viewer', 'ተመልካች'],
});
