import { catalogue } from '../../ui/language.ts';

/** The texts of the audit log. */
export const text = catalogue(
  {
    title: 'Audit log',
    none: 'No change matches these filters.',
    at: 'Time',
    operator: 'Operator',
    operatorId: 'Operator id',
    action: 'Action',
    resource: 'Resource',
    changes: 'What was changed',
    proposedBy: 'Proposed by',
    requestId: 'Request id',
    export: 'Export CSV',
    cut: 'The file has the newest 5,000 changes. Narrow the filters for the others.',
  },
  {
    title: 'የኦዲት መዝገብ',
    none: 'ከእነዚህ ማጣሪያዎች ጋር የሚስማማ ለውጥ የለም።',
    at: 'ጊዜ',
    operator: 'ኦፕሬተር',
    operatorId: 'የኦፕሬተር መለያ',
    action: 'ተግባር',
    resource: 'የተለወጠው',
    changes: 'ምን ተለወጠ',
    proposedBy: 'ያቀረበው',
    requestId: 'የጥያቄ መለያ',
    export: 'CSV አውርድ',
    cut: 'ፋይሉ የቅርብ 5,000 ለውጦችን ይዟል። ለሌሎቹ ማጣሪያዎቹን ያጥብቡ።',
  },
);
