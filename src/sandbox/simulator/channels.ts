import type { Manifest } from '../../providers/manifest.ts';
import * as manifests from '../../providers/manifests.ts';

type Listed = (typeof manifests)[keyof typeof manifests];
type Live = Extract<Listed, Pick<Manifest, 'protocol'>>;

export type SimulatedChannel = Live['id'];
/** The folder here that has a provider's messages, as the provider's own has them. */
export type SimulatedProtocol = Live['protocol'];
/** A provider that is simulated. */
export type Simulated = Manifest & { id: SimulatedChannel; protocol: SimulatedProtocol };
/** What a channel has by the messages of its provider. */
export type ByProtocol<Of extends Record<SimulatedProtocol, unknown>> = {
  [One in Live as One['id']]: Of[One['protocol']];
};

const isLive = (one: Listed): one is Live => 'protocol' in one;
export const SIMULATED: readonly Simulated[] = Object.values(manifests).filter(isLive);
export const CHANNELS = SIMULATED.map(({ id }) => id) as [SimulatedChannel, ...SimulatedChannel[]];
