import { findCurrentBuild, useBuild } from '../../src/temporal/builds.ts';
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

const temporal = () => ({ config: service.fixture.config, connection: service.fixture.temporal.connection });
const give = async (buildId: string) => useBuild(temporal(), { buildId, withinMs: 30_000 });

test('the first build gets the workflows, and parked ones continue on the next build once it is given them', async () => {
  const first = service.fixture.startWorker({ TEMPORAL_WORKER_BUILD_ID: '1.0' });
  const { attemptId } = await buy(merchant.client, { orderNo: 'RELEASE-1', phone: PHONES.silent });
  const handle = service.fixture.temporal.client.workflow.getHandle(`payment-${attemptId}`);
  const workedOnBy = async (buildId: string) =>
    until(`build ${buildId} to work on it`, async () => {
      const described = await handle.describe().catch(() => null);
      return described?.raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId === buildId;
    });
  await workedOnBy('1.0');

  const second = service.fixture.startWorker({ TEMPORAL_WORKER_BUILD_ID: '1.1' });
  await second.ready;
  await expect(findCurrentBuild(temporal())).resolves.toBe('1.0');
  await expect(give('1.1')).resolves.toBe('1.1');
  await first.stop();
  await workedOnBy('1.1');
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await expect(findCurrentBuild(temporal())).resolves.toBe('1.1');
}, 120_000);

test('a build without workers is not given the workflows', async () => {
  const given = useBuild(temporal(), { buildId: 'nobody', withinMs: 0 });
  await expect(given).rejects.toThrow('Build nobody cannot be made current');
  await expect(findCurrentBuild(temporal())).resolves.toBe('1.1');
}, 30_000);
