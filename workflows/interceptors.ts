import type { WorkflowExecuteInput, WorkflowInterceptors } from '@temporalio/workflow';

const HEADER = 'traceparent';

/**
 * Passes on the trace that a run was started with to its activities, as a header: no command, no timer and no random number
 * comes of it, so histories replay with and without it. Without traces there is no header.
 */
export function interceptors(): WorkflowInterceptors {
  let traceparent: WorkflowExecuteInput['headers'][string] | undefined;
  return {
    inbound: [
      {
        execute: async (input, next) => {
          traceparent = input.headers[HEADER];
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: async (input, next) => {
          if (!traceparent) return next(input);
          return next({ ...input, headers: { ...input.headers, [HEADER]: traceparent } });
        },
        continueAsNew: async (input, next) => {
          if (!traceparent) return next(input);
          return next({ ...input, headers: { ...input.headers, [HEADER]: traceparent } });
        },
      },
    ],
  };
}
