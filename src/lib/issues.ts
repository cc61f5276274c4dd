import { z } from 'zod';

import { toBirr, type Santim } from './money.ts';

/**
 * Every code of what is wrong with a field, and what it means, with its parameters. Codes and parameters are stable; the
 * English text beside them is not.
 */
export const ISSUE_CODES = {
  required: 'The value is missing or empty.',
  unknown_field: 'There is no such field or parameter here.',
  not_allowed: 'The field must be left out: it does not go with the rest of the request.',
  given_twice: 'The parameter or an item of the list was given more than once.',
  wrong_type: 'The JSON type is another than `expected`.',
  wrong_format: 'The text does not have the form that its description has.',
  control_characters: 'The text contains control characters, such as line breaks.',
  not_an_option: 'The value is not one of `allowed`, a comma list.',
  too_small: 'The number, or the amount in birr, is below `minimum`.',
  too_big: 'The number, or the amount in birr, is above `maximum`.',
  too_short: 'The text has fewer than `minimum` characters.',
  too_long: 'The text has more than `maximum` characters.',
  too_few: 'The list has fewer than `minimum` items.',
  too_many: 'The list or object has more than `maximum` items.',
  not_an_amount: 'The value is no amount in birr above 0 with at most two decimals.',
  not_a_phone: 'The value is no Ethiopian mobile number.',
  not_a_sandbox_phone: 'The number is none of those of the sandbox.',
  not_an_email: 'The value is no e-mail address.',
  not_a_web_address: 'The value is no http or https URL without a user name.',
  not_a_day: 'The value is no day as YYYY-MM-DD, or one before 2020 or too far ahead.',
  not_an_account_number: 'The value is no bank account number: 8 to 20 digits.',
  not_a_tin: 'The value is no taxpayer identification number: 10 digits.',
  not_a_reference: 'The value is no reference: 1 to 64 letters, digits or - _ .',
  not_an_ip_range: 'An item is no IP address or range of them, such as 203.0.113.0/24.',
  already_used: 'The value belongs to something that exists; `existing` has its id.',
  repeated: 'An earlier line of the file has the value.',
  start_after_end: 'The first day is after the last one.',
  range_too_wide: 'The days are more than `maximum`.',
  min_above_max: 'The lower bound is above the upper one.',
  in_the_past: 'The time is in the past.',
  too_far_ahead: 'The time is more than `maximum` days ahead.',
  ends_before_start: 'The end is not after the start.',
  overlaps: 'The time overlaps that of something that exists; `existing` has its id.',
  out_of_bounds: 'The amount in birr is not from `minimum` to `maximum`.',
  day_out_of_range: 'The day is not from `earliest`, where there is one, to `latest`, in Addis Ababa.',
  wrong_password: 'The password is wrong.',
  common_password: 'The password is common, or contains the name or address of the person.',
  wrong_code: 'The code is wrong, or was used before.',
  not_https: 'The URL does not use https.',
  wrong_port: 'The port of the URL is none of `allowed`, a comma list.',
  not_reachable: 'The host of the URL is not on the internet.',
  address_in_live: 'The host of the URL is an IP address: in live it must be a name.',
  reserved_header: 'The service sets this header itself.',
  receiver_fixed: 'A subscription stays one of your server, or of the built-in receiver.',
  phone_or_account: 'The destination must be a phone, or a bank with an account number.',
  wrong_destination: 'The channel pays to the other kind of destination.',
  no_payouts: 'The channel makes no payouts.',
  not_usable: 'The channel cannot be used now; `reason` is that of the list of channels.',
  not_a_reader: 'A recipient is no member of the merchant who may read these reports.',
  not_enough: 'The balance has `available` birr only.',
  rows_too_many: 'The report has more rows than `maximum`, those of its format.',
  not_verified: 'The merchant is not verified.',
  no_sandbox_payment: 'No payment has succeeded in the sandbox yet.',
  not_linked: 'No bank account is linked, or it cannot be used.',
  document_missing: 'The field or document of the application is missing.',
  invalid: 'The value is not accepted for another reason, which the text has.',
} as const;

export type IssueCode = keyof typeof ISSUE_CODES;
export type IssueParams = Readonly<Record<string, string | number>>;

/** What is wrong with a value: words that follow the field's name, with their code unless it is `invalid`. */
export type Issue = { issue: string; code?: IssueCode; params?: IssueParams };

/** What is wrong with the fields of a request, in responses. */
export const FieldIssues = z.array(
  z
    .object({
      field: z.string(),
      issue: z.string().describe("Words that follow the field's name"),
      code: z.enum(Object.keys(ISSUE_CODES)).describe('Stable; more may come. /docs/errors#fields has their meaning'),
      params: z
        .record(z.string(), z.union([z.string(), z.number()]))
        .optional()
        .describe('The parameters of the code, such as `minimum`'),
    })
    .meta({ id: 'FieldIssue' }),
);

/** The same of a schema's own rule: zod's `params` of a refinement. */
export const ruleOf = (code: IssueCode, params?: IssueParams) => ({ issue: { code, ...(params && { params }) } });

/** An amount below a limit. */
export const tooSmall = (issue: string, minSantim: Santim): Issue => ({
  issue,
  code: 'too_small',
  params: { minimum: toBirr(minSantim) },
});

/** An amount above a limit. */
export const tooBig = (issue: string, maxSantim: Santim): Issue => ({
  issue,
  code: 'too_big',
  params: { maximum: toBirr(maxSantim) },
});

/** A balance that does not cover what is asked for. */
export const notEnough = (issue: string, availableSantim: Santim): Issue => ({
  issue,
  code: 'not_enough',
  params: { available: toBirr(availableSantim) },
});
