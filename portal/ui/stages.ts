import type { Filter } from './filter-bar.tsx';
import { catalogue } from './language.ts';

/** The stages that withdrawals and refunds share. */
export const STAGES = catalogue({
  AWAITING_CONFIRMATION: ['To be confirmed', 'ማረጋገጫ ይጠብቃል'],
  CREATED: ['About to be sent', 'ሊላክ ነው'],
  SUBMITTED: ['Sent to the provider', 'ወደ አቅራቢው ተልኳል'],
  UNKNOWN: ['The provider is asked for the outcome', 'ውጤቱ ከአቅራቢው እየተጠየቀ ነው'],
  COMPLETED: ['Completed', 'ተጠናቋል'],
});

const LABELS = catalogue({ status: ['Status', 'ሁኔታ'], stage: ['Stage', 'ደረጃ'] });

type States<State extends string> = { status: readonly State[]; stage: readonly State[] };

/** The filters of a list by status, and of what is pending by stage. */
export function stateFilters<State extends string>(words: Record<State, string>, states: States<State>): Filter[] {
  const several = (name: keyof typeof LABELS): Filter => ({
    kind: 'several',
    name,
    label: LABELS[name],
    values: states[name].filter((one) => one !== 'COMPLETED').map((one) => [one, words[one]] as const),
  });
  return [several('status'), several('stage')];
}
