import type { FailureCode } from '../../src/webhooks/delivery/failure.ts';
import { catalogue } from './language.ts';

const text = catalogue({
  redirect: [
    'Redirects are not followed: enter the final address in the subscription.',
    'አቅጣጫ ማዞሪያዎችን አንከተልም፦ የመጨረሻውን አድራሻ በምዝገባው ያስገቡ።',
  ],
  unauthorised: [
    'Your server wants a login. Let this address through: the signature proves who sends.',
    'አገልጋይዎ መግቢያ ይጠይቃል። ይህን አድራሻ ያሳልፉት፦ ፊርማው ላኪውን ያረጋግጣል።',
  ],
  notFound: [
    'The address is not known to your server. Compare the path in the subscription.',
    'አገልጋይዎ አድራሻውን አያውቀውም። በምዝገባው ያለውን መንገድ ያመሳክሩ።',
  ],
  tooMany: [
    'Your server limits requests. Raise the limit for this address; the next attempt is later anyway.',
    'አገልጋይዎ ጥያቄዎችን ይገድባል። ለዚህ አድራሻ ገደቡን ይጨምሩ፤ ቀጣዩ ሙከራ ዘግይቶ ነው።',
  ],
  clientError: [
    'Your server rejects the request. Look at its log: most often the signature check or the body parser.',
    'አገልጋይዎ ጥያቄውን አልተቀበለም። ምዝግብ ማስታወሻውን ይመልከቱ፦ ብዙ ጊዜ የፊርማ ማረጋገጫ ወይም የአካል አንባቢ ነው።',
  ],
  serverError: [
    'Your server has a fault. Look at its log at this time.',
    'አገልጋይዎ ስህተት አለበት። በዚህ ሰዓት ያለውን ምዝግብ ማስታወሻ ይመልከቱ።',
  ],
  timeout: [
    'Answer 2xx within 3 seconds: store the event first, and do the work afterwards.',
    'በ3 ሰከንድ ውስጥ 2xx ይመልሱ፦ መጀመሪያ ክስተቱን ያስቀምጡ፣ ሥራውን በኋላ ይሥሩ።',
  ],
  dns: [
    'The host name does not resolve. Check its spelling and the DNS records.',
    'የአገልጋዩ ስም አይገኝም። አጻጻፉንና የDNS መዝገቦችን ያረጋግጡ።',
  ],
  connect: [
    'Nothing listens there, or a firewall rejects us. Check that the server runs and the port is open.',
    'እዚያ የሚያዳምጥ የለም፣ ወይም ፋየርዎል ከልክሎናል። አገልጋዩ መሥራቱንና ወደቡ ክፍት መሆኑን ያረጋግጡ።',
  ],
  tls: [
    'The certificate is not accepted. Check that it is valid, complete, and for this host name.',
    'የምስክር ወረቀቱ ተቀባይነት የለውም። የሚሠራ፣ የተሟላና ለዚህ ስም የተሰጠ መሆኑን ያረጋግጡ።',
  ],
  connection_reset: [
    'The connection broke off. Check proxies and limits in front of your server.',
    'ግንኙነቱ ተቋረጠ። በአገልጋይዎ ፊት ያሉ ፕሮክሲዎችንና ገደቦችን ያረጋግጡ።',
  ],
  address_not_allowed: [
    'The host name leads to a private address. Use one that is public.',
    'ስሙ ወደ ግል አድራሻ ይመራል። ይፋዊ አድራሻ ይጠቀሙ።',
  ],
  interrupted: [
    'The attempt was interrupted here; it is repeated. Your server may have received it.',
    'ሙከራው እዚህ ተቋርጧል፤ ይደገማል። አገልጋይዎ ተቀብሎት ሊሆን ይችላል።',
  ],
  internal_error: [
    'This is our fault. Contact support with the event id.',
    'ይህ የእኛ ስህተት ነው። በክስተቱ መለያ ድጋፍ ሰጪዎችን ያነጋግሩ።',
  ],
});

/** What a merchant can do about a failed attempt. */
export function adviceOf(code: string, httpStatus: number | null): string {
  if (httpStatus !== null) return adviceForStatus(httpStatus);
  const known = code as Exclude<FailureCode, 'http_status'>;
  return text[known] ?? text.serverError;
}

function adviceForStatus(status: number): string {
  if (status < 400) return text.redirect;
  if (status === 401 || status === 403) return text.unauthorised;
  if (status === 404 || status === 405 || status === 410) return text.notFound;
  if (status === 429) return text.tooMany;
  return status < 500 ? text.clientError : text.serverError;
}
