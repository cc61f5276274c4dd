import { FAILED_ORDER, useConsole } from './console.ts';
import { inspectScreen } from './portal.ts';

describe('every screen of the console', () => {
  const console = useConsole();

  const screens = (): Record<string, string> => {
    const { deliveryId, eventId, scope } = console;
    return {
      overview: '/test/overview',
      queue: '/test/queue',
      'queue-drawer': `/test/queue?open=${encodeURIComponent(`DEAD_LETTER:${deliveryId}`)}`,
      stalled: '/test/stalled',
      proposals: '/test/proposals',
      find: `/test/find?q=${FAILED_ORDER}`,
      transactions: '/test/transactions',
      withdrawals: '/test/withdrawals',
      settlements: '/test/settlements',
      deliveries: '/test/deliveries',
      'delivery-drawer': `/test/deliveries?open=${deliveryId}`,
      delivery: `/test/deliveries/${deliveryId}`,
      event: `/test/events/${eventId}`,
      merchants: '/test/merchants',
      merchant: `/test/merchants/${scope.merchantId}`,
      verification: `/live/kyc/${scope.merchantId}`,
      'bank-account': `/test/bank-accounts/${scope.merchantId}`,
      reconciliation: '/test/reconciliation',
      discrepancies: '/test/discrepancies',
      receipts: '/test/receipts',
      maintenance: '/test/maintenance',
      'merchant-live': `/live/merchants/${scope.merchantId}`,
      holidays: '/test/holidays',
      operators: '/test/operators',
      audit: '/test/audit',
      security: '/test/security',
      keys: '/test/keys',
      profile: '/test/profile',
    };
  };

  test.each(['en', 'am'] as const)(
    'has no fault of accessibility and no error, in %s',
    async (language) => {
      const tab = await console.open('/test/overview', { language, role: 'admin' });
      const found: string[] = [];
      for (const [name, path] of Object.entries(screens())) {
        await tab.page.goto(console.consoleUrl + path);
        found.push(...(await inspectScreen(tab, `console-${name}-${language}`)));
      }
      expect(found).toEqual([]);
      expect(tab.problems).toEqual([]);
      await tab.close();
    },
    480_000,
  );
});
