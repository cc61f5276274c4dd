import type { Context } from '@temporalio/activity';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

import type { Tracing } from '../lib/tracing.ts';

/** Of workflows and activities; workflows/interceptors.ts passes it on. */
const HEADER = 'traceparent';

/** Adds the running step to the headers of the workflows that it starts. */
export function startHeaders({ current }: Tracing): WorkflowClientInterceptor {
  const traced = <Input extends { headers: Headers }>(input: Input): Input => {
    const traceparent = current();
    if (traceparent === null) return input;
    return { ...input, headers: { ...input.headers, [HEADER]: defaultPayloadConverter.toPayload(traceparent) } };
  };
  return {
    startWithDetails: async (input, next) => next(traced(input)),
    signalWithStart: async (input, next) => next(traced(input)),
  };
}

/** Makes each try of an activity a step of the trace that its workflow was started with. */
export function activitySpans(tracing: Tracing): ActivityInterceptorsFactory {
  return ({ info }: Context) => ({
    inbound: {
      execute: async (input, next) => {
        const header = input.headers[HEADER];
        if (!header) return next(input);
        const { activityType, attempt, workflowExecution, workflowType } = info;
        const span = {
          name: `activity ${activityType}`,
          kind: 'consumer',
          parent: defaultPayloadConverter.fromPayload<string>(header),
          attributes: {
            'meskot.workflow_id': workflowExecution?.workflowId,
            'meskot.workflow': workflowType,
            'meskot.try': attempt,
          },
        } as const;
        return tracing.run(span, async () => next(input));
      },
    },
  });
}
