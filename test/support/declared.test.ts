import { requireDeclared } from './declared.ts';

const one = { operationId: 'getItem', method: 'GET', path: '/items/{id}', statuses: [200], codes: ['NOT_FOUND'] };
const all = { operationId: 'listAll', method: 'GET', path: '/items/all', statuses: [200], codes: [] };

test('a response with an undeclared status or code fails the test; the most literal route of the path is the one compared', () => {
  const answered = (path: string, status: number, code?: string) => () =>
    requireDeclared([one, all], { method: 'GET', path, status, ...(code && { body: { error: { code } } }) });
  expect(answered('/items/1?a=b', 200)).not.toThrow();
  expect(answered('/items/1', 404, 'NOT_FOUND')).not.toThrow();
  expect(answered('/items/1', 202)).toThrow('getItem answered 202');
  expect(answered('/items/1', 409, 'INVALID_STATE')).toThrow('getItem answered INVALID_STATE');
  expect(answered('/items/all', 404, 'NOT_FOUND')).toThrow('listAll answered NOT_FOUND');
  expect(answered('/elsewhere', 404, 'NOT_FOUND')).not.toThrow();
});
