import type { TimelineKind } from '../../../src/merchants/kyc/schema.ts';
import { EDITABLE } from '../../../src/merchants/kyc/states.ts';
import { amharicOf } from '../../ui/api-meanings.ts';
import { ApiText } from '../../ui/api-text.tsx';
import { Note, type Tone } from '../../ui/badge.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts, Panel } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { BUSINESS_TYPES, FIELD_LABELS, KYC_STATES, KYC_STEPS, REGIONS, text as fieldText } from '../../ui/kyc-text.ts';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Timeline } from '../../ui/timeline.tsx';
import { useMember } from '../member.ts';
import { useRead, type Kyc } from '../routes.ts';
import { Documents } from './documents.tsx';
import { Effect } from './effect.tsx';
import { FIELD_NAMES } from './fields.ts';
import { ApplicationForm } from './form.tsx';
import { text } from './text.ts';

const CALM_MS = 30_000;
/** The sandbox decides after five seconds. */
const BUSY_MS = 2_000;

/** The verification of the business: its state, the form and its documents, and what it opens. */
export function Verification() {
  const { whyNot } = useMember();
  const endpoint = 'GET /api/checkout/kyc';
  const isWaiting = useRead(endpoint, {}).data?.data.status === 'SUBMITTED';
  const kyc = useRead(endpoint, {}, { everyMs: isWaiting && environment === 'sandbox' ? BUSY_MS : CALM_MS });
  return (
    <Page title={text.title}>
      <Loaded query={kyc} skeletonRows={12} whyNot={whyNot('kyc:read')}>
        {({ data }) => <Panels kyc={data} />}
      </Loaded>
    </Page>
  );
}

function Panels({ kyc }: { kyc: Kyc }) {
  const { may, whyNot } = useMember();
  const isEditable = EDITABLE.includes(kyc.status) && may('kyc:write');
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(20rem,1fr)]">
      <div className="flex flex-col gap-4">
        {environment === 'sandbox' && (
          <Note tone="info">
            {text.test}{' '}
            <a href="/live/verification" className="underline">
              {text.toLive}
            </a>
          </Note>
        )}
        <Decision kyc={kyc} />
        {EDITABLE.includes(kyc.status) && !isEditable && (
          <Note tone="quiet">
            {text.mayNotSubmit} {whyNot('kyc:write')}
          </Note>
        )}
        {isEditable ? <ApplicationForm kyc={kyc} /> : <ReadOnly kyc={kyc} />}
      </div>
      <div className="flex flex-col gap-4">
        <Effect kyc={kyc} />
        <History kyc={kyc} />
      </div>
    </div>
  );
}

const TONES: Record<Kyc['status'], Tone> = {
  NOT_STARTED: 'quiet',
  SUBMITTED: 'info',
  UNDER_REVIEW: 'info',
  APPROVED: 'good',
  REJECTED: 'bad',
  MORE_INFO_NEEDED: 'warn',
};

const EXPLANATIONS: Record<Kyc['status'], string> = {
  NOT_STARTED: text.notStarted,
  SUBMITTED: text.waits,
  UNDER_REVIEW: text.waits,
  APPROVED: text.verified,
  REJECTED: text.again,
  MORE_INFO_NEEDED: text.again,
};

/** The state of the application, and the decision with its reason. */
function Decision({ kyc: { status, message, messageCode, submittedAt, decidedAt } }: { kyc: Kyc }) {
  return (
    <div role="status">
      <Note tone={TONES[status]}>
        <p className="text-base font-semibold">{KYC_STATES[status]}</p>
        {message !== null && (
          <p className="font-medium">
            {status === 'REJECTED' ? text.rejected : text.moreInfo}{' '}
            <ApiText text={message} amharic={amharicOf(messageCode)} />
          </p>
        )}
        <p>{EXPLANATIONS[status]}</p>
        {submittedAt !== null && (
          <p className="text-xs">
            {text.submittedAt}: <Time at={submittedAt} />
            {decidedAt !== null && (
              <>
                {' · '}
                {text.decidedAt}: <Time at={decidedAt} />
              </>
            )}
          </p>
        )}
      </Note>
    </div>
  );
}

/** The application as it was submitted, or as somebody sees it who may not change it. */
function ReadOnly({ kyc: { application, documents } }: { kyc: Kyc }) {
  const isEmpty = Object.keys(application).length === 0;
  const { businessType, region } = application;
  const names = { businessType: businessType && BUSINESS_TYPES[businessType], region: region && REGIONS[region] };
  const values = { ...application, ...names };
  return (
    <>
      <Panel title={text.application}>
        {isEmpty && <p className="text-quiet">{text.nothingYet}</p>}
        <Facts rows={Object.fromEntries(FIELD_NAMES.map((name) => [FIELD_LABELS[name], values[name]]))} />
      </Panel>
      <Panel title={fieldText.documents}>
        <Documents documents={documents} />
      </Panel>
    </>
  );
}

const STEP_TONES: Partial<Record<TimelineKind, Tone>> = {
  'review.approved': 'good',
  'review.rejected': 'bad',
  'review.more_info_needed': 'warn',
};

function History({ kyc: { timeline } }: { kyc: Kyc }) {
  if (timeline.length === 0) return null;
  return (
    <Panel title={text.history}>
      <Timeline
        items={timeline.map(({ at, kind, by, message, messageCode }, index) => ({
          id: `${index}`,
          at,
          title: KYC_STEPS[kind],
          tone: STEP_TONES[kind as TimelineKind] ?? 'quiet',
          detail: (
            <>
              {text[by]}
              {message !== undefined && (
                <>
                  : <ApiText text={message} amharic={amharicOf(messageCode)} />
                </>
              )}
            </>
          ),
        }))}
      />
    </Panel>
  );
}
