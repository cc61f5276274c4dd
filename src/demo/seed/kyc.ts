import { runAudited } from '../../access/operator-route.ts';
import { HOUR_MS } from '../../lib/dates.ts';
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
import type { ApplicationDetails } from '../../merchants/kyc/schema.ts';
import type { DocumentStore } from '../../merchants/kyc/store.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { DemoMerchant } from './demo.ts';
import { demoContext } from './operator.ts';

const DOCUMENTS = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID'] as const;

/** Submits a demo merchant's live application on this day; an APPROVED one is approved a few hours later. */
export async function applyAsDemo(
  { tx, store }: { tx: UnitOfWork; store: DocumentStore },
  merchant: DemoMerchant,
  day: Date,
): Promise<void> {
  const { scope, name, kycStatus } = merchant;
  const at = (hours: number): Date => new Date(day.getTime() + hours * HOUR_MS);
  const live = { merchantId: scope.merchantId, environment: 'live' } as const;
  const step = (hours: number): Step => ({ ...live, keyId: 'key_demo', at: at(hours) });
  await saveApplication(tx, step(1), applicationOf(merchant));
  for (const kind of DOCUMENTS) {
    const fileName = `${kind.toLowerCase().replaceAll('_', '-')}.pdf`;
    const bytes = demoPdf(`${name} ${kind}`);
    await addDocument({ tx, store }, step(1), { kind, fileName, contentType: 'application/pdf', bytes });
  }
  const { submissions: submission } = await submitApplication(tx, step(2));
  if (kycStatus !== 'APPROVED') return;
  const decide = (hours: number, command: KycCommand) =>
    runAudited(demoContext(tx, at(hours)), { action: `kyc.${command.type}` }, async (context) => {
      const before = await lockApplication(tx.trx, live);
      return { audit: kycAudit(before, await decideKyc(tx, { ...live, ...context }, command)) };
    });
  await decide(4, { type: 'review' });
  await decide(5, { type: 'approve', submission });
}

function applicationOf({ name, plan }: DemoMerchant): ApplicationDetails {
  const tin = String(plan.seed).padStart(10, '0');
  return {
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
  };
}

/** One empty page. */
function demoPdf(title: string): Buffer {
  return Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]>>endobj
4 0 obj<</Title(${title})>>endobj
trailer<</Root 1 0 R/Info 4 0 R>>
%%EOF
`);
}
