import { formatCount } from './format.ts';
import { catalogue } from './language.ts';

/** The texts of attempts at deliveries. */
export const text = catalogue({
  noAttempts: ['No attempt yet.', 'እስካሁን ሙከራ የለም።'],
  nextAttempt: ['Next attempt', 'ቀጣይ ሙከራ'],
  inTime: (time: string) => [`in ${time}`, `ከ${time} በኋላ`],
  now: ['now', 'አሁን'],
  attempt: (sequence: number) => [`Attempt ${formatCount(sequence)}`, `ሙከራ ${formatCount(sequence)}`],
  manual: ['resent by hand', 'በእጅ እንደገና የተላከ'],
  operator: ['resent by support', 'በድጋፍ ሰጪ እንደገና የተላከ'],
  inFlight: ['is being sent', 'በመላክ ላይ'],
  whatToDo: ['What to do', 'ምን ማድረግ ይቻላል'],
  requestHeaders: ['Request headers', 'የጥያቄ ራስጌዎች'],
  responseHeaders: ['Response headers', 'የምላሽ ራስጌዎች'],
  response: ['Response', 'ምላሽ'],
  noBody: ['The response had no body.', 'ምላሹ አካል አልነበረውም።'],
  signedWith: (hint: string) => [`made with the secret that ends with …${hint}`, `በ…${hint} በሚያበቃው ምስጢር የተሠራ`],
  dns: ['DNS', 'DNS'],
  connect: ['Connection', 'ግንኙነት'],
  tls: ['TLS', 'TLS'],
  firstByte: ['First byte', 'የመጀመሪያ ባይት'],
  milliseconds: (count: number) => [`${formatCount(count)} ms`, `${formatCount(count)} ሚሊ ሰከንድ`],
  details: ['Request and response', 'ጥያቄና ምላሽ'],
  because: (reason: string) => [`Reason: ${reason}`, `ምክንያት፦ ${reason}`],
});
