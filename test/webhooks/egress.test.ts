import { createEgressGuard, type EgressOptions } from '../../src/webhooks/egress/egress.ts';

function guard(tx: Partial<EgressOptions> = {}) {
  const made = createEgressGuard({ allowLoopback: false, ports: [443, 8443], deny: ['168.63.129.16/32'], ...tx });
  const checkUrl = (...given: Parameters<typeof made.checkUrl>): string[] =>
    made.checkUrl(...given).map(({ issue }) => issue);
  return { ...made, checkUrl };
}

describe('a URL to save', () => {
  test('is accepted as https on a public host, on port 443 or 8443', () => {
    const fine = [
      'https://hooks.example.com/meskot?shop=1',
      'https://hooks.example.com:8443',
      'https://ሱቅ.example.com/',
      'https://93.184.216.34/',
      'https://[2606:2800:220:1::1]/',
    ];
    for (const url of fine) expect([url, guard().checkUrl(url, 'sandbox')]).toEqual([url, []]);
  });

  test.each([
    ['http://hooks.example.com/', 'must use https, got http'],
    ['ftp://hooks.example.com/', 'must use https, got ftp'],
    ['javascript:alert(1)', 'must use https, got javascript'],
    ['https://shop:secret@hooks.example.com/', 'must not contain a user name or password'],
    ['https://shop@hooks.example.com/', 'must not contain a user name or password'],
    ['https://:secret@hooks.example.com/', 'must not contain a user name or password'],
    ['https://hooks.example.com:22/', 'must use port 443 or 8443, got 22'],
    ['https://hooks.example.com:0/', 'must use port 443 or 8443, got 0'],
    ['https://intranet/', 'must name a host on the internet, such as hooks.example.com, got "intranet"'],
    ['https://intranet./', 'must name a host on the internet, such as hooks.example.com, got "intranet"'],
    ['https://localhost/', 'must name a host on the internet, such as hooks.example.com, got "localhost"'],
    ['https://LOCALHOST./', 'must name a host on the internet, such as hooks.example.com, got "localhost"'],
    ['https://a.localhost/', 'must name a host on the internet, such as hooks.example.com, got "a.localhost"'],
    ['hooks.example.com', 'must be a full URL such as https://hooks.example.com/meskot, without blanks'],
    ['https://hooks.exam\nple.com/', 'must be a full URL such as https://hooks.example.com/meskot, without blanks'],
    [' https://hooks.example.com/', 'must be a full URL such as https://hooks.example.com/meskot, without blanks'],
    ['', 'must be a full URL such as https://hooks.example.com/meskot, without blanks'],
  ])('%j is rejected: %s', (url, problem) => {
    expect(guard().checkUrl(url, 'sandbox')).toContain(problem);
  });

  test.each(['ftp://hooks.example.com/', 'http://hooks.example.com/'])(
    '%s is rejected for its protocol only, not for its port',
    (url) => {
      expect(guard().checkUrl(url, 'sandbox')).toEqual([expect.stringMatching(/^must use https/)]);
    },
  );

  test('is rejected beyond 2,000 characters', () => {
    const url = `https://hooks.example.com/${'a'.repeat(2_000)}`;
    expect(guard().checkUrl(url, 'sandbox')).toEqual([`must have at most 2,000 characters, got ${url.length}`]);
  });

  test('is rejected with all its problems at once', () => {
    expect(guard().checkUrl('http://a:b@intranet:81/', 'live')).toHaveLength(4);
  });

  test('is rejected in live with an address for a host', () => {
    expect(guard().checkUrl('https://93.184.216.34/', 'live')).toEqual([
      'must have a host name in live, not an IP address',
    ]);
  });
});

describe('a URL with an address that is not public is rejected in every spelling', () => {
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://①②⑦.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://0/',
    'https://10.1.2.3/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://172.31.255.255/',
    'https://192.168.0.1/',
    'https://198.18.0.1/',
    'https://203.0.113.9/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://168.63.129.16/',
    'https://[::]/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[0:0:0:0:0:ffff:10.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[ff02::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2001::1]/',
    'https://[2001:db8::1]/',
    'https://[2002:7f00:1::]/',
    'https://[3fff::1]/',
  ])('the URL %s is rejected', (url) => {
    expect(guard().checkUrl(url, 'sandbox')).toEqual([expect.stringMatching(/^must be reachable from the internet/)]);
    expect(guard().rejection(new URL(url))).toMatch(/^must be reachable/);
  });
});

describe('where loopback is allowed', () => {
  const local = guard({ allowLoopback: true });

  test.each(['http://127.0.0.1:4003/hooks', 'http://localhost:4003/', 'https://[::1]:9000/', 'http://a.localhost/'])(
    '%s is accepted with any port',
    (url) => {
      expect(local.checkUrl(url, 'sandbox')).toEqual([]);
      expect(local.rejection(new URL(url))).toBeNull();
    },
  );

  test.each(['http://10.0.0.1/', 'http://192.168.1.1:443/', 'https://169.254.169.254/', 'http://hooks.example.com/'])(
    '%s is still rejected',
    (url) => {
      expect(local.checkUrl(url, 'sandbox')).not.toEqual([]);
    },
  );

  test('denied loopback addresses stay rejected', () => {
    const denying = guard({ allowLoopback: true, deny: ['127.0.0.2', '::1'] });
    expect(denying.checkUrl('http://127.0.0.2/', 'sandbox')).toHaveLength(1);
    expect(denying.checkUrl('http://[::1]/', 'sandbox')).toHaveLength(1);
    expect(denying.checkUrl('http://127.0.0.1/', 'sandbox')).toEqual([]);
  });
});

describe('resolved addresses', () => {
  test('are allowed only when every one of them is public', () => {
    expect(guard().allPublic(['93.184.216.34', '2606:2800:220:1::1'])).toBe(true);
    expect(guard().allPublic(['93.184.216.34', '10.0.0.1'])).toBe(false);
    expect(guard().allPublic(['93.184.216.34', '::ffff:10.0.0.1'])).toBe(false);
    expect(guard().allPublic(['::ffff:93.184.216.34'])).toBe(true);
    expect(guard().allPublic(['::93.184.216.34'])).toBe(false);
    expect(guard().allPublic(['fe80::1%eth0'])).toBe(false);
    expect(guard().allPublic(['2606:2800:220:1::1%eth0'])).toBe(false);
    expect(guard().allPublic(['nonsense'])).toBe(false);
    expect(guard().allPublic([])).toBe(false);
  });
});

test('an unreadable entry in the deny list throws an error with the entry', () => {
  for (const entry of ['10.0.0.0/33', 'example.com', '10.0.0.0/x', '::1/129', '10.0.0.0/']) {
    expect(() => guard({ deny: [entry] })).toThrow(`"${entry}" is no IP address or CIDR block`);
  }
});
