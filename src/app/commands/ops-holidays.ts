import { UsageError, type Row } from '../../lib/command-line.ts';
import { addisDay } from '../../lib/dates.ts';
import { presentHoliday } from '../../settlements/calendar/operator-routes.ts';
import { listHolidays } from '../../settlements/calendar/queries.ts';
import { callCommand } from './call-route.ts';
import { nothingMore, singleArgument } from './ops-decisions.ts';
import type { OpsCommandDeps, OpsVerb } from './ops-options.ts';

const PATH = '/api/ops/holidays';

/** `meskot ops holidays …`: lists a year's, and edits them. */
export const holidays =
  (deps: OpsCommandDeps): OpsVerb =>
  async ({ options, args: [verb = 'list', ...words] }) => {
    const { reason } = options;
    const call = async (method: string, path: string, body: object): Promise<Row> =>
      holidayRow((await callCommand(deps, { by: options }, { method, path, body })).data);
    const edit = (holidayId: string, changes: object): Promise<Row> =>
      call('PATCH', `${PATH}/${holidayId}`, { ...changes, reason });
    switch (verb) {
      case 'list':
        nothingMore(words);
        return listYear(deps, options.year);
      case 'add': {
        const [date = '', name = '', ...more] = words;
        nothingMore(more, 'Put the name in quotes.');
        return call('POST', PATH, { date, name, kind: options.memorial ? 'memorial' : 'closed', reason });
      }
      case 'move': {
        const [holidayId = '', date = '', ...more] = words;
        nothingMore(more);
        return edit(holidayId, { date });
      }
      case 'on':
      case 'off':
        return edit(singleArgument(words, verb), { active: verb === 'on' });
      case 'confirm':
        return edit(singleArgument(words, verb), { confirmed: true });
      case 'remove':
        return call('DELETE', `${PATH}/${singleArgument(words, verb)}`, { reason });
      default:
        throw new UsageError(`holidays takes list, add, move, on, off, confirm or remove, got "${verb}".`);
    }
  };

async function listYear({ db, clock }: OpsCommandDeps, wanted: string | undefined): Promise<Row[]> {
  const year = wanted ?? addisDay(clock()).slice(0, 4);
  if (!/^20[2-9]\d$/.test(year)) throw new UsageError(`--year must be from 2020 to 2099, got "${year}".`);
  const found = await listHolidays(db, { from: `${year}-01-01`, until: `${year}-12-31` });
  return found.map((holiday) => holidayRow(presentHoliday(holiday)));
}

function holidayRow(data: Readonly<Record<string, string | number | boolean | null>>): Row {
  const { confirmed, active, ...row } = data;
  return { ...(row as Row), confirmed: String(confirmed), active: String(active) };
}
