import { catalogue } from '../../ui/language.ts';

/** The texts of the audit log. */
export const text = catalogue({
  title: ['Audit log', 'የኦዲት መዝገብ'],
  none: ['No change matches these filters.', 'ከእነዚህ ማጣሪያዎች ጋር የሚስማማ ለውጥ የለም።'],
  at: ['Time', 'ጊዜ'],
  operator: ['Operator', 'ኦፕሬተር'],
  operatorId: ['Operator id', 'የኦፕሬተር መለያ'],
  action: ['Action', 'ተግባር'],
  resource: ['Resource', 'የተለወጠው'],
  changes: ['What was changed', 'ምን ተለወጠ'],
  proposedBy: ['Proposed by', 'ያቀረበው'],
  requestId: ['Request id', 'የጥያቄ መለያ'],
  export: ['Export CSV', 'CSV አውርድ'],
  cut: [
    'The file has the newest 5,000 changes. Narrow the filters for the others.',
    'ፋይሉ የቅርብ 5,000 ለውጦችን ይዟል። ለሌሎቹ ማጣሪያዎቹን ያጥብቡ።',
  ],
});
