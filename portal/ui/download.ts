import { failureOf } from './call.ts';

/** Fetches a file with the page's headers and saves it under the server's name for it. Throws CallFailure. */
export async function download(address: string, headers: HeadersInit): Promise<void> {
  const response = await fetch(address, { headers }).catch(() => Promise.reject(failureOf(null, null)));
  if (!response.ok) throw failureOf(response, await response.json().catch(() => null));
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'download';
  saveFile(await response.blob(), name);
}

/** Saves a file that the page has made. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
