import type { PasskeyOptions } from './routes.ts';

/** Whether the browser creates passkeys and signs with them: Chrome 129, Safari 18.4, Firefox 119. */
export const HAS_PASSKEYS = typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';

/** The person has refused, or the device could not. */
export class NoPasskey extends Error {}

async function ofDevice(asked: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await asked.catch(() => null);
  if (credential === null) throw new NoPasskey();
  return credential as PublicKeyCredential;
}

/** Asks the browser for a new passkey, in base64url. Throws NoPasskey. */
export async function createPasskey(options: PasskeyOptions) {
  const json = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json);
  const created = await ofDevice(navigator.credentials.create({ publicKey }));
  const { id, response } = created.toJSON() as RegistrationResponseJSON;
  const { clientDataJSON, attestationObject, transports } = response;
  return { id, clientDataJSON, attestationObject, transports };
}

/** Asks the browser for a signature with a passkey, in base64url. Throws NoPasskey. */
export async function signWithPasskey(options: PasskeyOptions) {
  const json = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json);
  const signed = await ofDevice(navigator.credentials.get({ publicKey }));
  const { id, response } = signed.toJSON() as AuthenticationResponseJSON;
  const { clientDataJSON, authenticatorData, signature } = response;
  return { id, clientDataJSON, authenticatorData, signature };
}
