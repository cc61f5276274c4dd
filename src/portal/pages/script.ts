export const SCRIPT_PATH = '/sign-in.js';

/** A form is sent once: of a double click, the second request would hide what the first one shows, such as a key. */
const SENT_ONCE = `
addEventListener('submit', (event) => {
  if (event.target.dataset.isSent) event.preventDefault();
  event.target.dataset.isSent = true;
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.isSent;
});
`;

/**
 * Shows the button for passkeys where the browser has them (Chrome 129, Safari 18.4, Firefox 119), asks it for a signature,
 * and sends that as the form's fields.
 */
const PASSKEY = `
const passkey = document.getElementById('passkey');
if (passkey) passkey.hidden = !globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON;
passkey?.addEventListener('submit', async (event) => {
  event.preventDefault();
  for (const earlier of document.querySelectorAll('[role=alert]')) earlier.hidden = true;
  try {
    const response = await fetch(passkey.dataset.options, { method: 'POST' });
    if (!response.ok) throw new Error(String(response.status));
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await response.json());
    const { id, response: signed } = (await navigator.credentials.get({ publicKey })).toJSON();
    const { clientDataJSON, authenticatorData, signature } = signed;
    for (const [name, value] of Object.entries({ id, clientDataJSON, authenticatorData, signature })) {
      const field = passkey.elements[name] ?? passkey.appendChild(document.createElement('input'));
      Object.assign(field, { type: 'hidden', name, value });
    }
    passkey.submit();
  } catch {
    passkey.querySelector('[role=alert]').hidden = false;
  }
});
`;

/**
 * A button that copies, below each text that is shown once, or selects it where copying is not allowed. Browsers let only
 * pages of https and localhost copy.
 */
const COPY = `
for (const text of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'second', textContent: text.dataset.copy });
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = text.dataset.copied;
    } catch {
      getSelection().selectAllChildren(text);
    }
  });
  text.after(button);
}
`;

/** The script of the pages, which work without it but for passkeys and copying. */
export const SCRIPT = SENT_ONCE + PASSKEY + COPY;
