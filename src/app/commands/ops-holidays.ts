import { declareHoliday, editHoliday, withdrawHoliday } from '../../backoffice/holidays.ts';
import { presentHoliday } from '../../backoffice/present.ts';
import { UsageError, type Row } from '../../lib/command-line.ts';
import { addisDay } from '../../lib/dates.ts';
import { listHolidays, type Holiday } from '../../settlements/calendar/queries.ts';
import { act, nothingMore, singleArgument } from './ops-decisions.ts';
import type { OpsCommandDeps, OpsVerb } from './ops-options.ts';

type Deps = Pick<OpsCommandDeps, 'db' | 'runInTransaction' | 'clock' | 'demoOperatorId' | 'calendarChanged'>;

/** `meskot ops holidays …`: lists a year's, and edits them. */
export const holidays =
  (deps: Deps): OpsVerb =>
  async ({ options, args: [what = 'list', ...words] }) => {
    const { reason } = options;
    const edit = (changes: Parameters<typeof editHoliday>[1]): Promise<Row> =>
      act(deps, { options, action: 'holiday.change' }, async (context) =>
        holidayRow(await editHoliday(context, { ...changes, reason }, deps)),
      );
    switch (what) {
      case 'list':
        nothingMore(words);
        return listYear(deps, options.year);
      case 'add': {
        const [date = '', name = '', ...more] = words;
        nothingMore(more, 'Put the name in quotes.');
        const holiday = { date, name, kind: options.memorial ? 'memorial' : 'closed', reason } as const;
        return act(deps, { options, action: 'holiday.add' }, async (context) =>
          holidayRow(await declareHoliday(context, holiday, deps)),
        );
      }
      case 'move': {
        const [holidayId = '', date = '', ...more] = words;
        nothingMore(more);
        return edit({ holidayId, date });
      }
      case 'on':
      case 'off':
        return edit({ holidayId: singleArgument(words, what), active: what === 'on' });
      case 'confirm':
        return edit({ holidayId: singleArgument(words, what), confirmed: true });
      case 'remove':
        return act(deps, { options, action: 'holiday.remove' }, async (context) =>
          holidayRow(await withdrawHoliday(context, { holidayId: singleArgument(words, what), reason }, deps)),
        );
      default:
        throw new UsageError(`holidays takes list, add, move, on, off, confirm or remove, got "${what}".`);
    }
  };

async function listYear({ db, clock }: Deps, wanted: string | undefined): Promise<Row[]> {
  const year = wanted ?? addisDay(clock()).slice(0, 4);
  if (!/^20[2-9]\d$/.test(year)) throw new UsageError(`--year must be from 2020 to 2099, got "${year}".`);
  return (await listHolidays(db, { from: `${year}-01-01`, until: `${year}-12-31` })).map(holidayRow);
}

function holidayRow(holiday: Holiday): Row {
  const { confirmed, active, ...row } = presentHoliday(holiday);
  return { ...row, confirmed: String(confirmed), active: String(active) };
}
