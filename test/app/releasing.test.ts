import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { promisify } from 'node:util';

import { findTemporalBinary } from '../../src/local/temporal.ts';
import { buy, startChaosService, PHONES, type ChaosService, type ChaosMerchant } from '../chaos/service.ts';
import { until } from '../support/until.ts';

let service: ChaosService;
let merchant: ChaosMerchant;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  service = await startChaosService({ TASK_QUEUES: 'payments' });
  ({ stop: stopApi } = await service.startApi());
  merchant = await service.newMerchant();
}, 60_000);
afterAll(async () => {
  await stopApi();
  await service.close();
}, 60_000);

/** As `temporal worker deployment set-current-version` does, once the build's workers are there. */
async function makeCurrent(buildId: string): Promise<void> {
  const { workflowService, deploymentName } = namesOf();
  await until(`build ${buildId} to be current`, async () =>
    workflowService
      .setWorkerDeploymentCurrentVersion({ namespace: 'default', deploymentName, buildId, identity: 'test' })
      .then(
        () => true,
        () => false,
      ),
  );
}

/** As the chart's job does after an upgrade, with the program of Temporal. */
async function runJob(buildId: string): Promise<void> {
  const template = readFileSync(
    new URL('../../deploy/helm/meskot/templates/make-current.yaml', import.meta.url),
    'utf8',
  );
  const [, script = ''] = /command:.*?- \|\n(.*?)\n {10}securityContext/s.exec(template) ?? [];
  const program = await findTemporalBinary({ givenPath: process.env['TEMPORAL_CLI_PATH'] });
  const env = {
    PATH: [dirname(program), process.env['PATH']].join(delimiter),
    HOME: process.env['HOME'],
    TEMPORAL_ADDRESS: service.fixture.config.TEMPORAL_ADDRESS,
    DEPLOYMENT_NAME: namesOf().deploymentName,
    BUILD_ID: buildId,
  };
  await promisify(execFile)('/bin/sh', ['-c', script], { env });
}

function namesOf() {
  const { temporal, config } = service.fixture;
  const { workflowService } = temporal.client;
  return { workflowService, deploymentName: `${config.TASK_QUEUE_PREFIX}${config.TEMPORAL_DEPLOYMENT_NAME}` };
}

test('a build gets work once it is current, and parked workflows continue on the next build', async () => {
  const first = service.fixture.startWorker({ TEMPORAL_WORKER_BUILD_ID: '1.0' });
  await first.ready;
  await makeCurrent('1.0');
  const { attemptId } = await buy(merchant.client, { orderNo: 'RELEASE-1', phone: PHONES.silent });
  const handle = service.fixture.temporal.client.workflow.getHandle(`payment-${attemptId}`);
  const workedOnBy = async (buildId: string) =>
    until(`build ${buildId} to work on it`, async () => {
      const described = await handle.describe().catch(() => null);
      return described?.raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId === buildId;
    });
  await workedOnBy('1.0');

  // The job waits for its workers to poll.
  service.fixture.startWorker({ TEMPORAL_WORKER_BUILD_ID: '1.1' });
  await runJob('1.1');
  await first.stop();
  await workedOnBy('1.1');
  expect((await handle.describe()).status.name).toBe('RUNNING');
}, 120_000);
