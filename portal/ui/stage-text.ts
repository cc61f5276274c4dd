import { catalogue } from './language.ts';

/** The stages that withdrawals and refunds share. */
export const STAGES = catalogue({
  AWAITING_CONFIRMATION: ['To be confirmed', 'ማረጋገጫ ይጠብቃል'],
  CREATED: ['About to be sent', 'ሊላክ ነው'],
  SUBMITTED: ['Sent to the provider', 'ወደ አቅራቢው ተልኳል'],
  UNKNOWN: ['The provider is asked for the outcome', 'ውጤቱ ከአቅራቢው እየተጠየቀ ነው'],
  COMPLETED: ['Completed', 'ተጠናቋል'],
});
