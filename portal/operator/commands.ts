import { catalogue } from '../ui/language.ts';

const text = catalogue(
  {
    resend: 'Resend',
    resendHelp: 'One POST is made now. The merchant reads the reason in the log of the event.',
    resent: 'Resent: the new attempt appears below.',
    force: 'Also if it was delivered',
    giveUp: 'Give up',
    giveUpHelp: 'No further attempt is made. It becomes a dead letter, which can be resent.',
    givenUp: 'The delivery is given up.',
  },
  {
    resend: 'እንደገና ላክ',
    resendHelp: 'አሁን አንድ POST ይላካል። ነጋዴው ምክንያቱን በክስተቱ መዝገብ ያነባል።',
    resent: 'እንደገና ተልኳል፦ አዲሱ ሙከራ ከታች ይታያል።',
    force: 'ደርሶ ቢሆንም',
    giveUp: 'ተወው',
    giveUpHelp: 'ተጨማሪ ሙከራ አይደረግም። ያልደረሰ መልእክት ሆኖ ይቀመጣል፤ እንደገና ሊላክ ይችላል።',
    givenUp: 'መላኪያው ተትቷል።',
  },
);

type Values = readonly (readonly [value: string, caption: string])[];

/** A field of a command's body, by the API's name. */
export type CommandField = { name: string; label: string; hint?: string; isRequired?: boolean } & (
  | { kind: 'text' | 'birr' | 'whole' | 'day' | 'check' }
  | { kind: 'choice'; values: Values }
);

/** A command of operators: its permission has the name that the audit log gives it. */
export type Command = {
  permission: string;
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  label: string;
  help?: string;
  kind?: 'primary' | 'danger';
  fields?: readonly CommandField[];
  reason: 'required' | 'optional' | 'none';
  done?: string;
};

const COMMANDS = {
  'delivery.resend': {
    label: text.resend,
    help: text.resendHelp,
    kind: 'primary',
    reason: 'required',
    done: text.resent,
  },
  'delivery.cancel': {
    label: text.giveUp,
    help: text.giveUpHelp,
    kind: 'danger',
    reason: 'required',
    done: text.givenUp,
  },
} as const satisfies Record<string, Omit<Command, 'permission'>>;

export type CommandName = keyof typeof COMMANDS;

/** The command of this name. */
export const commandOf = (name: CommandName): Command => ({ permission: name, ...COMMANDS[name] });
