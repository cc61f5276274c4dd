import { defineSearchAttributeKey } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

const BUSINESS_STATUS = defineSearchAttributeKey('BusinessStatus', 'KEYWORD');

/** What operators filter workflows by. Only a change is told: each time is an event, and a write to Temporal's index. */
export function showStatus(status: string): void {
  if (workflowInfo().typedSearchAttributes.get(BUSINESS_STATUS) === status) return;
  upsertSearchAttributes([{ key: BUSINESS_STATUS, value: status }]);
}
