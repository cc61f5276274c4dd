/**
 * Whole bodies of operations whose fields' own examples do not make a valid one together, by operation: what "Try it" of
 * the API description sends unless it is changed.
 */
export const BODY_EXAMPLES: Readonly<Record<string, object>> = {
  createSession: {
    checkoutOrderNo: 'ORDER-1001',
    amount: 250.5,
    currency: 'ETB',
    successUrl: 'https://shop.example.et/thanks',
    customerName: 'Abebe Bikila',
    customerPhone: '+251911223344',
    metadata: { basket: '42' },
  },
  createWithdrawal: {
    requestId: 'PAYROLL-2026-11-7',
    amount: 250.5,
    channel: 'TELEBIRR',
    destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
  },
  createSettlement: { requestId: 'SETTLE-2026-11-21', amount: 2500.5 },
  createReport: { kind: 'payments', period: 'month', status: 'SUCCESS', format: 'CSV' },
  saveKyc: {
    legalName: 'Abyssinia Coffee PLC',
    tradeName: 'Abyssinia Coffee',
    businessType: 'PRIVATE_LIMITED_COMPANY',
    tin: '0012345678',
    tradeLicenceNumber: 'AA/1234/2018',
    address: 'Bole, Woreda 3, House 12',
    region: 'ADDIS_ABABA',
    contactPerson: 'Almaz Ayana',
    email: 'almaz@coffee.example.et',
    phone: '0911000001',
    website: 'https://coffee.example.et',
    expectedMonthlyVolume: 250_000,
  },
  opsCreateMerchant: { name: 'Abyssinia Coffee PLC' },
  opsBookTransfer: {
    environment: 'sandbox',
    channel: 'TELEBIRR',
    amount: 250.5,
    bankReference: 'FT26031XYZ',
    reason: 'as the statement of 31 January says',
  },
  opsBookUnmatchedMoney: { environment: 'sandbox', amount: 250.5, bankReference: 'FT26031XYZ' },
};
