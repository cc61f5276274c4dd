export type BaseAddressRules = {
  /** Allowed protocols, http and https unless given. */
  protocols?: readonly string[];
  path?: boolean;
  user?: boolean;
  example?: string;
};

/**
 * An address that paths are appended to, in its normal form and without a slash at its end, or what is wrong with it, as
 * words that follow its name. The parser of URLs alone would also take `javascript:`, or https with one slash.
 */
export function readBaseAddress(text: string, rules: BaseAddressRules = {}): { address: string } | { problem: string } {
  const { protocols = ['http', 'https'], path = false, user = false } = rules;
  const { example = 'https://pay.example.et' } = rules;
  const [allowed, refused] = [
    [
      `${protocols.join(' or ')}, a host`,
      ...(user ? ['user and password with %40 for @ and so on'] : []),
      'a port',
      ...(path ? ['a path'] : []),
    ],
    [...(path ? [] : ['path']), 'query', 'fragment', ...(user ? [] : ['user'])],
  ];
  const problem = `must be a full address such as ${example}: ${inWords(allowed, 'and')}, without ${inWords(refused, 'or')}`;
  const isForm = new RegExp(String.raw`^(?:${protocols.join('|')})://[^\s\\?#]+$`, 'i').test(text);
  if (!isForm || !URL.canParse(text)) return { problem };
  const url = new URL(text);
  const isAllowed =
    url.hostname !== '' && (path || /^\/*$/.test(url.pathname)) && (user || url.username + url.password === '');
  if (!isAllowed || !isDecodable(url.username + url.password)) return { problem };
  return { address: url.href.replace(/\/{1,9}$/, '') };
}

function inWords(parts: readonly string[], word: string): string {
  return parts.length === 1 ? String(parts[0]) : `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}`;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
