import { resolve } from 'node:path';

import type { Connection } from '../../src/app/commands/api-client.ts';
import type { VerbDeps } from '../../src/app/commands/nouns.ts';
import { addApiCommands, createProgram, runProgram } from '../../src/app/commands/program.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

export type CommandResult = { exitCode: number; text: string; notes: string; questions: string[] };

type Options = Partial<Pick<VerbDeps, 'createAdmin'>> & {
  /** The answer typed at the terminal; without it there is no terminal. */
  answer?: string | undefined;
  columns?: number;
};

/** Runs `meskot …` against an API: what it prints, and beside it what only a person reads. */
export async function runCommandLine(
  connection: Connection,
  args: readonly string[],
  { answer, columns, createAdmin = async () => {} }: Options = {},
): Promise<CommandResult> {
  const result: CommandResult = { exitCode: 0, text: '', notes: '', questions: [] };
  const ask = async (question: string): Promise<string> => {
    result.questions.push(question);
    return answer ?? '';
  };
  const terminal = {
    write: (part: string | Uint8Array) => void (result.text += part.toString()),
    note: (line: string) => void (result.notes += `${line}\n`),
    columns,
    ...(answer !== undefined && { ask }),
  };
  const program = createProgram(terminal);
  const deps = { project: PROJECT, terminal, connect: async () => connection, createAdmin };
  addApiCommands(program, deps);
  result.exitCode = await runProgram(program, args, terminal);
  return result;
}
