import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

const BUSINESS_STATUS = defineSearchAttributeKey('BusinessStatus', 'KEYWORD');
const LAST_HTTP_STATUS = defineSearchAttributeKey('LastHttpStatus', 'INT');

/**
 * What operators filter workflows by. Only a change is upserted: each time is an event, and a write to Temporal's index.
 * @param httpStatus a receiver's; null where there is none.
 */
export function publishStatus(status: string, httpStatus: number | null = null): void {
  const { typedSearchAttributes: shown } = workflowInfo();
  const changes: SearchAttributePair[] = [];
  if (shown.get(BUSINESS_STATUS) !== status) changes.push({ key: BUSINESS_STATUS, value: status });
  if (httpStatus !== null && shown.get(LAST_HTTP_STATUS) !== httpStatus)
    changes.push({ key: LAST_HTTP_STATUS, value: httpStatus });
  if (changes.length > 0) upsertSearchAttributes(changes);
}
