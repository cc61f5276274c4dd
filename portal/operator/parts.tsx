import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Badge, Note } from '../ui/badge.tsx';
import { buttonStyle } from '../ui/button.tsx';
import { Code } from '../ui/copy.tsx';
import { BASES, environment } from '../ui/environment.ts';
import { Section } from '../ui/facts.tsx';
import { text as frame } from '../ui/frame-text.ts';
import { Timeline } from '../ui/timeline.tsx';
import { ACTIONS } from './action-text.ts';
import { fieldLabel, fieldText } from './field-words.ts';
import type { AuditEntry } from './routes.ts';
import { text } from './text.ts';
import { viewPath, type ViewKind } from './views.tsx';

type Environment = typeof environment;

/** TEST or LIVE; null: of both. */
export function EnvironmentBadge({ of }: { of: Environment | null }) {
  if (of === null) return null;
  return <Badge tone={of === 'live' ? 'bad' : 'warn'}>{of === 'live' ? frame.live : frame.test}</Badge>;
}

/** Shown where an address leads to something of the other environment. */
export function OtherEnvironment({ of, path }: { of: Environment | null; path: string }) {
  if (of === null || of === environment) return null;
  return (
    <Note tone="warn">
      {text.otherEnvironment}{' '}
      <a href={BASES[of] + path} className="underline">
        {text.openThere}
      </a>
    </Note>
  );
}

/** The workflow in the Temporal UI. */
export function TemporalLink({ url }: { url: string | null | undefined }) {
  if (!url) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer" className={buttonStyle()}>
      {text.temporal}
    </a>
  );
}

/** The resources with a page, by the beginning of their ids. */
const KINDS: Readonly<Record<string, ViewKind>> = {
  txn: 'transaction',
  rfd: 'refund',
  wd: 'withdrawal',
  stl: 'settlement',
  mrc: 'merchant',
  prp: 'proposal',
};

type ResourceProps = {
  id: string;
  label: string;
  /** What it is, where that is known. */
  name?: string;
  of?: Environment | null;
};

/** An id to copy, which leads to the page of what it is of, in its environment, where there is one. */
export function Resource({ id, label, name, of = null }: ResourceProps) {
  const kind = KINDS[id.split('_', 1)[0] ?? ''];
  return (
    <>
      {kind === undefined ? (
        name
      ) : (
        <ResourceLink path={viewPath(kind, id)} of={of ?? environment}>
          {name ?? text[kind]}
        </ResourceLink>
      )}{' '}
      <Code value={id} name={label} />
    </>
  );
}

type LinkProps = { path: string; of: Environment; children: ReactNode };

/** The other environment is another page. */
function ResourceLink({ path, of, children }: LinkProps) {
  const className = 'text-brand underline';
  return of === environment ? (
    <Link to={path as '/merchants'} className={className}>
      {children}
    </Link>
  ) : (
    <a href={BASES[of] + path} className={className}>
      {children}
    </a>
  );
}

const keyState = ({ revokedAt, expiresAt }: KeyTimes): 'revoked' | 'expired' | 'valid' => {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && new Date(expiresAt) < new Date() ? 'expired' : 'valid';
};
type KeyTimes = { revokedAt: string | null; expiresAt: string | null };

/** Whether a key can be used. */
export function KeyState({ of }: { of: KeyTimes }) {
  const state = keyState(of);
  return <Badge tone={state === 'valid' ? 'good' : 'quiet'}>{text[state]}</Badge>;
}

/** The commands of a resource, and its workflow. */
export function Actions({ children, temporalUrl }: { children?: ReactNode; temporalUrl?: string | null | undefined }) {
  return (
    <div className="flex flex-wrap items-start gap-2">
      {children}
      <TemporalLink url={temporalUrl} />
    </div>
  );
}

type NamedProps = { id: string | null; name: string | null; label: string };

/** A merchant, a person or a key: the name, and the id to copy. */
export function Named({ id, name, label }: NamedProps) {
  if (id === null) return null;
  return (
    <>
      {name} <Code value={id} name={label} />
    </>
  );
}

type MerchantProps = { of: { merchantName: string | null; merchantId: string | null } };

/** The name of a merchant, which leads to its page, and its id. */
export function MerchantLine({ of: { merchantId, merchantName } }: MerchantProps) {
  if (merchantId === null) return null;
  return (
    <>
      <Link to={viewPath('merchant', merchantId) as '/merchants'} className="text-brand underline">
        {merchantName}
      </Link>{' '}
      <Code value={merchantId} name={text.merchantId} />
    </>
  );
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Fields of the API in words, and others as it has them. */
export function RecordFacts({ record }: { record: Readonly<Record<string, unknown>> }) {
  const known = Object.entries(record).filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (known.length === 0) return null;
  return (
    <ul className="flex flex-col gap-0.5">
      {known.map(([name, value]) => (
        <li key={name}>
          <span className="text-quiet">
            {fieldLabel(name) ?? <code className="font-mono text-xs">{name}</code>}
            {text.colon}
          </span>{' '}
          {fieldText(name, value) ?? <span lang="en">{valueText(value)}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Without objects. */
const plainFields = (record: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => typeof value !== 'object' || Array.isArray(value)));

type Step = {
  at: string;
  kind: string;
  detail: Readonly<Record<string, unknown>>;
  /** Who did it, where that is recorded. */
  byName?: string | null;
};

/** What has happened to a resource. `kinds`: in words. */
export function History({ steps, kinds = {} }: { steps: readonly Step[]; kinds?: Readonly<Record<string, string>> }) {
  if (steps.length === 0) return null;
  return (
    <Section title={text.history}>
      <Timeline
        items={steps.map(({ at, kind, detail, byName }, index) => ({
          id: String(index),
          at,
          title: kinds[kind] ?? kind,
          tone: 'info',
          detail: (
            <>
              {byName}
              <RecordFacts record={plainFields(detail)} />
            </>
          ),
        }))}
      />
    </Section>
  );
}

/** The decisions of operators about a resource. */
export function Decisions({ decisions }: { decisions: readonly AuditEntry[] }) {
  if (decisions.length === 0) return null;
  return (
    <Section title={text.decisions}>
      <Timeline
        items={decisions.map(({ auditId, at, action, operatorName, reason }) => ({
          id: auditId,
          at,
          title: text.about(ACTIONS[action], operatorName),
          tone: 'quiet',
          detail: reason,
        }))}
      />
    </Section>
  );
}
