import { failureOf } from './call.ts';

/** Fetches a file with the page's headers and saves it under the server's name for it. Throws CallFailure. */
export async function download(address: string, headers: HeadersInit): Promise<void> {
  const response = await fetch(address, { headers }).catch(() => Promise.reject(failureOf(null, null)));
  if (!response.ok) throw failureOf(response, await response.json().catch(() => null));
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'download';
  link.click();
  URL.revokeObjectURL(url);
}
