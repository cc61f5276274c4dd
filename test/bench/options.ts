import { parseArgs } from 'node:util';

/** What --against compares unless steps are named: the cost of each request, payment and event. */
const COMPARED = ['sessions', 'payments', 'bursts'];
const ROUNDS = 3;

export type Options = {
  /** In their order. */
  steps: string[];
  isShort: boolean;
  isJson: boolean;
  profileFolder: string | undefined;
  /** The commit to compare with. */
  against: { commit: string; rounds: number } | undefined;
};

/** What an invocation asks for, of all steps; throws the usage unless it is valid; null: help. */
export function readOptions(args: readonly string[], all: readonly string[]): Options | null {
  const options = {
    json: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    against: { type: 'string' },
    rounds: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return null;
  const { against: commit, json: isJson, profile: profileFolder } = values;
  const only = values.only ?? (commit === undefined ? all : COMPARED);
  const rounds = Number(values.rounds ?? ROUNDS);
  const isValid = only.every((step) => all.includes(step)) && Number.isInteger(rounds) && rounds > 0;
  const isOfAnother = commit === undefined ? values.rounds !== undefined : isJson || profileFolder !== undefined;
  if (!isValid || isOfAnother) throw new Error(usageOf(all));
  const against = commit === undefined ? undefined : { commit, rounds };
  return { steps: all.filter((step) => only.includes(step)), isShort: values.short, isJson, profileFolder, against };
}

export const usageOf = (
  all: readonly string[],
): string => `Usage: npm run bench [-- [--only STEP]… [--short] [--json] [--profile FOLDER]]
       npm run bench -- --against COMMIT [--rounds N] [--only STEP]… [--short]
Measures this machine against the goals; about half an hour. Progress goes to stderr, results to stdout. What was
measured is printed also when a step fails; the exit code is 1 then.
  --only STEP       only this step, and others that are named the same way: ${all.join(', ')}
  --short           a few of everything: whether it works, not how fast
  --json            all figures, and the goals with whether they are met
  --profile FOLDER  what took the time, by function for each process and by statement for each step
  --against COMMIT  measures that commit and this folder in turns, and prints the ratios; unless steps are named, of
                    ${COMPARED.join(', ')}
  --rounds N        how often each is measured then; ${ROUNDS} unless given
`;
