import type { PasskeyOptions } from './routes.ts';

/** Whether the browser creates passkeys and signs with them: Chrome 129, Safari 18.4, Firefox 119. */
export const HAS_PASSKEYS = typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';

/** What the device returned; null where the person has refused, or the device could not. */
async function ofDevice(asked: Promise<Credential | null>): Promise<PublicKeyCredential | null> {
  return asked.then(
    (credential) => credential as PublicKeyCredential | null,
    () => null,
  );
}

/** Asks the browser for a new passkey, in base64url; null: none was made. */
export async function createPasskey(options: PasskeyOptions) {
  const json = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json);
  const created = await ofDevice(navigator.credentials.create({ publicKey }));
  if (!created) return null;
  const { id, response } = created.toJSON() as RegistrationResponseJSON;
  const { clientDataJSON, attestationObject, transports } = response;
  return { id, clientDataJSON, attestationObject, transports };
}

/** Asks the browser for a signature with a passkey, in base64url; null: none was given. */
export async function signWithPasskey(options: PasskeyOptions) {
  const json = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json);
  const signed = await ofDevice(navigator.credentials.get({ publicKey }));
  if (!signed) return null;
  const { id, response } = signed.toJSON() as AuthenticationResponseJSON;
  const { clientDataJSON, authenticatorData, signature } = response;
  return { id, clientDataJSON, authenticatorData, signature };
}
