import { runAudited } from '../../access/operator-route.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { saveApplication, submitApplication, type Step } from '../../merchants/kyc/application.ts';
import { decideKyc, type KycCommand } from '../../merchants/kyc/decide.ts';
import { addDocument } from '../../merchants/kyc/documents.ts';
import { kycAudit } from '../../merchants/kyc/operator-routes.ts';
import { lockApplication } from '../../merchants/kyc/queries.ts';
import type { DocumentStore } from '../../merchants/kyc/store.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { demoContext } from './credentials.ts';
import { DEMO_KEY_ID, type DemoMerchant } from './demo.ts';

const DOCUMENTS = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID'] as const;

/** Submits a demo merchant's live application on this day; an APPROVED one is approved a few hours later. */
export async function applyAsDemo(
  { tx, store }: { tx: UnitOfWork; store: DocumentStore },
  { scope, name, kycStatus, plan }: DemoMerchant,
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
  if (kycStatus !== 'APPROVED') return;
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
