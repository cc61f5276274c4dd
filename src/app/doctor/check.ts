import type { Config, Variables } from '../../config.ts';
import type { Clock } from '../../lib/clock.ts';
import { addisDay, DAY_MS } from '../../lib/dates.ts';
import type { HttpClient } from '../../lib/http-client.ts';
import { withTimeout } from '../../lib/timeout.ts';
import { EXPIRY_WARNING_DAYS } from '../../providers/expiry.ts';

export type DoctorParts = {
  config: Config;
  env: Variables;
  clock: Clock;
  project: string;
  http: HttpClient;
  /** The settings that are wrong, which are left out of `config`. */
  wrongNames: ReadonlySet<string>;
};

/** What a check has found: `next` is what to do about a warning or something wrong. */
export type Result =
  | { status: 'ok'; found: string; next: null }
  | { status: 'warning'; found: string; next: string }
  | { status: 'wrong'; found: string; next: string };

export type Finding = { name: string } & Result;

export const ok = (found: string): Result => ({ status: 'ok', found, next: null });
export const warning = (found: string, next: string): Result => ({ status: 'warning', found, next });
export const wrong = (found: string, next: string): Result => ({ status: 'wrong', found, next });

export const hasWrong = (findings: readonly Finding[]): boolean => findings.some(({ status }) => status === 'wrong');

const CHECK_MS = 5_000;

/**
 * Runs one check within its time limit. What it throws is a finding too, without the error's text, which may quote a
 * secret. A check without a result adds no line.
 */
export async function check(name: string, work: () => Promise<Result | null>, limitMs = CHECK_MS): Promise<Finding[]> {
  const done = work().then(
    (result) => ({ result }),
    (error: unknown) => ({
      result: wrong(`The check failed (${codeOf(error)}).`, 'Run it again; if it persists, report this line.'),
    }),
  );
  const { result } = (await withTimeout(done, limitMs)) ?? {
    result: wrong(`No result within ${limitMs / 1_000} s.`, 'Run it again; check the load of this machine.'),
  };
  return result === null ? [] : [{ name, ...result }];
}

/** The code of an error or of its cause; a name with two addresses, such as localhost, fails once for each. */
export function codeOf(error: unknown): string {
  const { name, code, errors, cause } = (error ?? {}) as Record<string, unknown>;
  if (name === 'TimeoutError' || name === 'AbortError') return 'TIMEOUT';
  if (typeof code === 'string') return code;
  if (Array.isArray(errors)) return codeOf(errors[0]);
  if (cause !== undefined) return codeOf(cause);
  return typeof name === 'string' ? name : 'unknown';
}

/** What the end of a certificate means: nothing yet, a warning in its last days, wrong after it. */
export function ofValidity(what: string, { validFrom, validTo }: Validity, at: { now: Date; next: string }): Result {
  const [from, until] = [new Date(validFrom), new Date(validTo)];
  const days = Math.floor((until.getTime() - at.now.getTime()) / DAY_MS);
  if (at.now < from) return wrong(`${what} is not valid before ${addisDay(from)}.`, CHECK_CLOCK);
  if (days < 0) return wrong(`${what} has expired on ${addisDay(until)}.`, at.next);
  if (days < EXPIRY_WARNING_DAYS) return warning(`${what} ends in ${days} days, on ${addisDay(until)}.`, at.next);
  return ok(`${what} is valid for ${days} more days.`);
}

type Validity = { validFrom: string; validTo: string };
const CHECK_CLOCK = 'Compare the clock of this machine with a time server: chronyc tracking.';

const SKEW_WARNING_SECONDS = 5;
const SKEW_WRONG_SECONDS = 60;

/** The difference of a clock from ours: positive if ours is ahead. */
export function ofSkew(seconds: number, whose: string): Result {
  const off = Math.round(Math.abs(seconds));
  if (off <= SKEW_WARNING_SECONDS)
    return ok(`The clock of this machine is within ${SKEW_WARNING_SECONDS} s of ${whose}.`);
  const found = `The clock of this machine is ${off} s ${seconds > 0 ? 'ahead of' : 'behind'} ${whose}.`;
  const next = 'Set the clock by a time server (chronyc makestep): providers reject messages with a wrong time.';
  return isSkewed(seconds) ? wrong(found, next) : warning(found, next);
}

/** Whether a provider may reject messages because of the clock. */
export function isSkewed(seconds: number | null): boolean {
  return seconds !== null && Math.abs(seconds) > SKEW_WRONG_SECONDS;
}
