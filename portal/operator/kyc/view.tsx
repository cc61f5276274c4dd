import { ApiText } from '../../ui/api-text.tsx';
import { Badge, Note } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { environment } from '../../ui/environment.ts';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { formatBirr, formatCount } from '../../ui/format.ts';
import { BUSINESS_TYPES, DOCUMENT_LABELS, FIELD_LABELS, KYC_STATES, KYC_STEPS, REGIONS } from '../../ui/kyc-text.ts';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { Actions, History, MerchantLine, Named } from '../parts.tsx';
import { useRead, type KycDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';
import { text } from './text.ts';

/** The states in which an application is decided. */
const UNDECIDED = ['SUBMITTED', 'UNDER_REVIEW'];

/** A merchant's application beside its documents. `id`: the merchant's. */
export function KycView({ id }: { id: string }) {
  const { whyNot } = useOperator();
  const query = useRead('GET /api/ops/merchants/:merchantId/kyc', {
    params: { merchantId: id },
    query: { environment },
  });
  return (
    <Loaded query={query} whyNot={whyNot('kyc.review')}>
      {({ data }) => <KycDetail kyc={data} />}
    </Loaded>
  );
}

function KycDetail({ kyc }: { kyc: Detail }) {
  const { status, submission, tier, message, submittedAt, decidedBy, decidedAt } = kyc;
  return (
    <>
      {message !== null && (
        <Note tone="info">
          <ApiText text={message} />
        </Note>
      )}
      <div className="@container">
        <div className="grid gap-5 @3xl:grid-cols-[2fr_3fr]">
          <div className="flex flex-col gap-5 @3xl:sticky @3xl:top-4 @3xl:self-start">
            <Decision kyc={kyc} />
            <Facts
              rows={{
                [shared.merchant]: <MerchantLine of={kyc} />,
                [shared.status]: (
                  <Badge tone={status === 'APPROVED' ? 'good' : 'info'}>{KYC_STATES[status] ?? status}</Badge>
                ),
                [text.submission]: formatCount(submission),
                [text.tier]: formatCount(tier),
                [text.submittedAt]: submittedAt && <Time at={submittedAt} seconds />,
                [text.decidedBy]: decidedBy && <Named id={decidedBy} name={kyc.decidedByName} label={text.decidedBy} />,
                [text.decidedAt]: decidedAt && <Time at={decidedAt} seconds />,
              }}
            />
            <Section title={text.details}>
              <Facts rows={detailRows(kyc.details)} />
            </Section>
          </div>
          <Section title={text.documents}>
            <Documents kyc={kyc} />
          </Section>
        </div>
      </div>
      <History steps={kyc.timeline} kinds={KYC_STEPS} />
    </>
  );
}

function Decision({ kyc: { merchantId, status, submission } }: { kyc: Detail }) {
  const address = (verb: string): string => `/api/ops/merchants/${merchantId}/kyc/${verb}`;
  const decision = { environment, submission };
  return (
    <Actions>
      {UNDECIDED.includes(status) && (
        <>
          <CommandButton name="kyc.approve" address={address('approve')} body={decision} />
          <CommandButton name="kyc.request-info" address={address('request-info')} body={decision} />
          <CommandButton name="kyc.reject" address={address('reject')} body={decision} />
        </>
      )}
      {status === 'SUBMITTED' && <CommandButton name="kyc.review" address={address('review')} body={{ environment }} />}
      {status === 'APPROVED' && (
        <CommandButton name="kyc.change-tier" address={address('tier')} body={{ environment }} />
      )}
    </Actions>
  );
}

const named = (names: Readonly<Record<string, string>>, value: unknown): string =>
  names[String(value)] ?? String(value);

/** The declared fields under their labels. */
function detailRows(details: Detail['details']): Record<string, string> {
  const labels: Readonly<Record<string, string>> = FIELD_LABELS;
  const texts: Readonly<Record<string, (value: unknown) => string>> = {
    businessType: (value) => named(BUSINESS_TYPES, value),
    region: (value) => named(REGIONS, value),
    expectedMonthlyVolume: (value) => formatBirr(Number(value)),
  };
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [labels[name] ?? name, texts[name]?.(value) ?? String(value)]),
  );
}

/** Every document, shown and to be saved. */
function Documents({ kyc: { merchantId, documents } }: { kyc: Detail }) {
  if (documents.length === 0) return <p className="text-quiet">{text.noDocument}</p>;
  return (
    <ul className="flex flex-col gap-4">
      {documents.map(({ documentId, kind, fileName, contentType, bytes, uploadedAt }) => {
        const href = addressOf('GET /api/ops/merchants/:merchantId/kyc/documents/:documentId', {
          params: { merchantId, documentId },
          query: { environment },
        });
        return (
          <li key={documentId} className="flex flex-col items-start gap-2">
            <p>
              <span className="font-medium">{DOCUMENT_LABELS[kind]}:</span> {fileName}{' '}
              <span className="text-quiet">
                {formatCount(Math.ceil(bytes / 1_000))} kB · <Time at={uploadedAt} />
              </span>
            </p>
            {contentType === 'application/pdf' ? (
              <iframe
                src={`${href}&inline=true#navpanes=0&view=FitH`}
                title={DOCUMENT_LABELS[kind]}
                loading="lazy"
                className="h-[36rem] w-full rounded-md border border-line"
              />
            ) : (
              <img src={href} alt={DOCUMENT_LABELS[kind]} className="max-w-full rounded-md border border-line" />
            )}
            <a href={href} download className={buttonStyle()}>
              {text.save}: {DOCUMENT_LABELS[kind]}
            </a>
          </li>
        );
      })}
    </ul>
  );
}
