import { MERCHANT_ACTIONS, type MerchantAction } from '../../src/http/people.ts';
import { productRoutes } from '../docs/document.ts';

/**
 * Why a route by which a merchant's keys and people change something adds no row to the merchant's audit log: a new route
 * fails the test until it names its action or stands here, so that it is a decision.
 */
const NOT_RECORDED: Readonly<Record<string, string>> = {
  createSession: 'payments: the session and its transaction are the record, and a row for each would slow them down',
  expireSession: 'payments: as createSession',
  paySession: 'payments: the attempt is the record; customers do it',
  claimSuccess: 'payments: the timeline is the record; customers do it',
  claimError: 'payments: as claimSuccess',
  claimCancel: 'payments: as claimSuccess',
  quoteWithdrawals: 'changes nothing: it is a question, with a body',
  createReport: 'the report is the record: it has the requester, and changes nothing else',
  cancelReport: 'the report is the record',
  sendWebhookTestEvent: 'changes nothing: the event is the record',
  decideSandboxPayment: 'only of the sandbox, in place of the payer; the timeline is the record',
  advanceSandboxSettlement: 'only of the sandbox, in place of an operator; the timeline is the record',
  acceptInvitation: "an operator's invitation: the operators' audit log has it",
  changeProfile: 'concerns the person only: name, language, calendar',
  createView: 'a filter of a list under a name: it gives access to nothing',
  changeView: 'as createView',
  deleteView: 'as createView',
  switchMerchant: 'concerns the session only',
  signOut: 'concerns the session only',
  endOwnSession: 'concerns the session only',
  endAllSessions: 'concerns the sessions of the person only',
  stepUp: 'changes nothing',
  beginPasskey: 'takes effect when the passkey is added',
  beginStepUpWithPasskey: 'changes nothing',
  stepUpWithPasskey: 'changes nothing',
  beginTwoFactor: 'takes effect with its confirmation',
};

/** Recorded in a transaction of their own: by routes whose failed tries are committed, and by a page. */
const BY_THEMSELVES: Readonly<Record<string, MerchantAction>> = {
  changePassword: 'password.change',
  confirmTwoFactor: 'two-factor.turn-on',
  'the page of an invitation': 'member.join',
};

const changing = productRoutes().filter(({ method, auth }) => method !== 'GET' && auth.by !== 'operator');
const actionOf = (route: (typeof changing)[number]) => ('write' in route ? route.audit : undefined);

test('each route by which a merchant changes something is recorded, or has a reason not to be', () => {
  const unnamed = changing.filter((route) => actionOf(route) === undefined).map(({ operationId }) => operationId);
  const listed = [...Object.keys(NOT_RECORDED), ...Object.keys(BY_THEMSELVES)].filter((name) => !name.includes(' '));
  expect(unnamed.toSorted()).toEqual(listed.toSorted());
});

test('each action is recorded by one route', () => {
  const named = [...changing.flatMap((route) => actionOf(route) ?? []), ...Object.values(BY_THEMSELVES)];
  expect(named.toSorted()).toEqual(MERCHANT_ACTIONS.toSorted());
});
