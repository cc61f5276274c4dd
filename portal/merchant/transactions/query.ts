import { LIMIT_DEFAULT, type Search } from '../../ui/search-params.ts';
import { daysOf } from '../day-ranges.ts';

/** The filter as the API takes it: the same for the rows, their totals and the export. */
export function filterOf(chosen: Search) {
  const { range: _range, status = 'ALL', minAmount, maxAmount, held, minAgeMinutes, ...plain } = chosen;
  return { ...plain, minAmount, maxAmount, held, minAgeMinutes, ...daysOf(chosen), status, currency: 'ETB' };
}

/** The order of the list, unless the address has another one. */
export const SORT_DEFAULT = '-createdAt';

/** The order in the address, if the list has it. */
export const sortOf = ({ sort = '' }: Search): string => (/^-?(?:createdAt|amount)$/.test(sort) ? sort : SORT_DEFAULT);

/** What the list shows at its bare address, as the API takes it. */
export const firstRows = () => ({ ...filterOf({}), sort: SORT_DEFAULT, page: 1, limit: LIMIT_DEFAULT });
