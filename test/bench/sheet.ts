import { judge, NOT_HERE, type GoalName, type Measured } from './goals.ts';
import { hundredths } from './numbers.ts';

/** A table row by column. Numbers keep their measured precision. */
export type Row = Record<string, string | number>;
type Table = { title: string; rows: Row[] };
type StepResult = { step: string; tables: Table[]; error?: string };

/** A step writes its values here as they are measured, so that a failed step still shows them. */
export type Sheet = {
  /** Starts a table; each call of the returned function adds a row. */
  table: (title: string) => (row: Row) => void;
  measured: (goal: GoalName, value: number) => void;
};

export type Results = { about: Row; steps: StepResult[]; measured: Measured };

/** The sheet of one step, part of the results. */
export function openSheet(results: Results, step: string): Sheet & { fail: (error: unknown) => void } {
  const result: StepResult = { step, tables: [] };
  results.steps.push(result);
  return {
    table: (title) => {
      const table: Table = { title, rows: [] };
      result.tables.push(table);
      return (row) => void table.rows.push(row);
    },
    measured: (goal, value) => void (results.measured[goal] = value),
    fail: (error) => void (result.error = error instanceof Error ? error.message : String(error)),
  };
}

/** All figures and goals as JSON. */
export function jsonOf({ about, steps, measured }: Results): string {
  return `${JSON.stringify({ about, steps, goals: judge(measured), notMeasuredHere: NOT_HERE }, null, 2)}\n`;
}

/** The text of all tables. */
export function textOf({ about, steps, measured }: Results): string {
  const parts = [
    Object.entries(about).map(([name, value]) => `${name}: ${value}`),
    ...steps.flatMap(({ step, tables, error }) => [
      ...tables.map(({ title, rows }) => [title, ...tableOf(rows)]),
      ...(error === undefined ? [] : [[`The step "${step}" failed: ${error}`]]),
    ]),
    goalLines(measured),
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function goalLines(measured: Measured): string[] {
  const rows = judge(measured).map(({ of, what, goal, measured: value, unit, ok }) => ({
    Goals: `${ok ? 'ok    ' : 'missed'} ${of.padEnd(3)} ${what}`,
    goal,
    measured: hundredths(value),
    ' ': unit,
  }));
  return [...tableOf(rows), `Not measured here: ${NOT_HERE.join(', ')}`];
}

/** Aligns columns to their widest cell; text to the left, figures to the right. */
export function tableOf(rows: readonly Row[]): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [columns, ...rows.map((row) => columns.map((column) => cellOf(row[column])))];
  const widths = columns.map((_column, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  const isFigure = columns.map((column) => rows.some((row) => typeof row[column] === 'number'));
  return cells.map((line) =>
    line
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return isFigure[index] ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** At least three significant figures. */
function cellOf(value: string | number | undefined): string {
  if (typeof value !== 'number') return value ?? '';
  if (Number.isInteger(value) || Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
