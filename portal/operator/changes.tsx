import { Changes } from '../ui/changes.tsx';
import { fieldLabel, fieldText, ruleName } from './field-words.ts';
import type { AuditEntry } from './routes.ts';
import { text } from './text.ts';

type Fields = Readonly<Record<string, unknown>>;
type Rule = Fields & { direction: string; channel: string | null };
const OF_RULE = /^(.+): (\w+)$/;

/** Fields of rules beside the others, each under the name of its rule. */
function withRules(fields: Fields | null): Fields | null {
  if (!Array.isArray(fields?.['rules'])) return fields;
  const { rules, ...others } = fields as { rules: Rule[] };
  const named = rules.flatMap(({ direction, channel, feeRuleId: _fee, limitRuleId: _limit, ...rule }) =>
    Object.entries(rule).map(([name, value]) => [`${ruleName({ direction, channel })}: ${name}`, value]),
  );
  return { ...others, ...Object.fromEntries(named) };
}

/** Those whose value differs on the other side, or that it does not have. */
const different = (fields: Fields | null, other: Fields | null): Fields | null =>
  fields &&
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => other === null || other[name] !== value));

function labelOf(name: string): string | undefined {
  const [, rule, field = name] = OF_RULE.exec(name) ?? [];
  const label = fieldLabel(field);
  return rule === undefined || label === undefined ? label : text.about(rule, label);
}

type Props = Pick<AuditEntry, 'before' | 'after'> & { of: AuditEntry['resourceType'] };

/** The fields of a change with their values before and after it, in words where there are any. */
export function FieldChanges({ before, after, of }: Props) {
  const [old, present] = [withRules(before), withRules(after)];
  const valueOf = (name: string, value: unknown) => fieldText(OF_RULE.exec(name)?.[2] ?? name, value, of);
  return <Changes before={different(old, present)} after={different(present, old)} words={{ labelOf, valueOf }} />;
}
