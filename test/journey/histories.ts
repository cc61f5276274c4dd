import { connectTestTemporal } from '../support/temporal.ts';

/** Descriptions and histories of all workflows of these task queues, as text. */
export async function readHistories(taskQueuePrefix: string): Promise<string[]> {
  const { client, close } = await connectTestTemporal();
  try {
    const texts: string[] = [];
    for await (const { workflowId, runId } of client.workflow.list({
      query: `TaskQueue STARTS_WITH '${taskQueuePrefix}'`,
    })) {
      const handle = client.workflow.getHandle(workflowId, runId);
      const [description, history] = [await handle.describe(), await handle.fetchHistory()];
      texts.push(readable(description.raw), readable(history));
    }
    return texts;
  } finally {
    await close();
  }
}

/** A Temporal message as text with decoded payloads, which JSON encodes in base64. */
function readable(message: unknown): string {
  return JSON.stringify(message).replaceAll(/"data":"([A-Za-z0-9+/=]*)"/g, (_, data: string) => atob(data));
}
