import { runAudited } from '../../access/operator-route.ts';
import { systemClock } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { grantChannels, switchChannel } from '../../merchants/channels/operations.ts';
import {
  decideKyc,
  saveApplication,
  submitApplication,
  type KycCommand,
  type Step,
} from '../../merchants/kyc/application.ts';
import { addDocument } from '../../merchants/kyc/documents.ts';
import { kycAudit } from '../../merchants/kyc/operator-routes.ts';
import { lockApplication } from '../../merchants/kyc/queries.ts';
import type { DocumentStore } from '../../merchants/kyc/store.ts';
import { createMerchant, findMerchant } from '../../merchants/operations.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { linkBankAccount } from '../../settlements/bank-account/account.ts';
import { createDemoOperators, demoContext } from './credentials.ts';
import { ABYSSINIA, DEMO_KEY_ID, NEW_SHOP, type DemoMerchant } from './demo.ts';

const DOCUMENTS = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID'] as const;

/** Creates the merchants. Returns the end of their history, which a run after a kill derives from their creation. */
export async function ensureMerchants(
  { db, runInTransaction }: { db: Database; runInTransaction: RunInTransaction },
  store: DocumentStore,
): Promise<Date> {
  const existing = await findMerchant(db, ABYSSINIA.scope.merchantId);
  if (existing) return new Date(existing.createdAt.getTime() + ABYSSINIA.plan.days * DAY_MS);
  const until = systemClock();
  await runInTransaction(async (tx) => {
    await createDemoOperators(tx.trx);
    for (const merchant of [ABYSSINIA, NEW_SHOP]) {
      const { scope, name, plan, isApproved } = merchant;
      const createdAt = new Date(until.getTime() - plan.days * DAY_MS);
      await createMerchant(tx.trx, { id: scope.merchantId, name, createdAt });
      await grantChannels(tx.trx, scope);
      await applyForKyc({ tx, store }, merchant, createdAt);
      if (isApproved) {
        const account = { bankCode: 'CBE', accountNumber: '1000204719583', accountName: `${name} PLC` } as const;
        await linkBankAccount(tx, scope, { ...account, requestedBy: DEMO_KEY_ID, at: createdAt });
        continue;
      }
      for (const channel of ['CBE_BIRR', 'AWASH'] as const) {
        await switchChannel({ tx, findProvider: () => null }, { ...scope, channel, enabled: false });
      }
    }
  });
  return until;
}

/** Submits a merchant's live application on this day; it is approved a few hours later if the merchant is. */
async function applyForKyc(
  { tx, store }: { tx: UnitOfWork; store: DocumentStore },
  { scope, name, isApproved, plan }: DemoMerchant,
  day: Date,
): Promise<void> {
  const at = (hours: number): Date => new Date(day.getTime() + hours * HOUR_MS);
  const live = { merchantId: scope.merchantId, environment: 'live' } as const;
  const step = (hours: number): Step => ({ ...live, keyId: DEMO_KEY_ID, at: at(hours) });
  const tin = String(plan.seed).padStart(10, '0');
  await saveApplication(tx, step(1), {
    legalName: `${name} PLC`,
    tradeName: name,
    businessType: 'PRIVATE_LIMITED_COMPANY',
    tin,
    tradeLicenceNumber: `AA/AA/1/${tin.slice(3)}/2015`,
    address: 'Bole, woreda 3, house 112',
    region: 'ADDIS_ABABA',
    contactPerson: 'Selam Tesfaye',
    phone: '251911000001',
    email: 'owner@shop.example.et',
    expectedMonthlyVolume: 250_000,
  });
  for (const kind of DOCUMENTS) {
    const fileName = `${kind.toLowerCase().replaceAll('_', '-')}.pdf`;
    const bytes = Buffer.from(emptyPdf(`${name} ${kind}`));
    await addDocument({ tx, store }, step(1), { kind, fileName, contentType: 'application/pdf', bytes });
  }
  const { submissions: submission } = await submitApplication(tx, step(2));
  if (!isApproved) return;
  const commands: KycCommand[] = [{ type: 'review' }, { type: 'approve', submission }];
  for (const [index, command] of commands.entries()) {
    await runAudited(demoContext(tx, at(4 + index)), { action: `kyc.${command.type}` }, async (context) => {
      const before = await lockApplication(tx.trx, live);
      return { audit: kycAudit(before, await decideKyc(tx, { ...live, ...context }, command)) };
    });
  }
}

/** One empty page. */
const emptyPdf = (title: string): string => `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]>>endobj
4 0 obj<</Title(${title})>>endobj
trailer<</Root 1 0 R/Info 4 0 R>>
%%EOF
`;
