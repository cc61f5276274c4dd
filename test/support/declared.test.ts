import { requireDeclared } from './declared.ts';

const one = { operationId: 'getItem', method: 'GET', path: '/items/{id}', statuses: [200, 404] };
const all = { operationId: 'listAll', method: 'GET', path: '/items/all', statuses: [200] };

test('an answer that its route does not declare fails the test, by the most literal route that takes the path', () => {
  const answered = (path: string, status: number) => () => requireDeclared([one, all], { method: 'GET', path, status });
  expect(answered('/items/1?a=b', 404)).not.toThrow();
  expect(answered('/items/1', 409)).toThrow('getItem answered 409');
  expect(answered('/items/all', 404)).toThrow('listAll answered 404');
  expect(answered('/elsewhere', 404)).not.toThrow();
});
