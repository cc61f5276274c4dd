import { catalogue } from '../../ui/language.ts';
import type { Finding } from './signature.ts';

export const text = catalogue(
  {
    title: 'Check a signature',
    back: 'All events',
    intro: 'Paste what your server received. It is compared in this browser only; nothing is sent.',
    body: 'Raw body',
    bodyHint: 'Exactly as received, before any JSON parsing.',
    secret: 'Secret',
    secretHint: 'The whole text that begins with whsec_.',
    check: 'Check',
  },
  {
    title: 'ፊርማ አረጋግጥ',
    back: 'ሁሉም ክስተቶች',
    intro: 'አገልጋይዎ የተቀበለውን ይለጥፉ። የሚመሳከረው በዚህ አሳሽ ውስጥ ብቻ ነው፤ ምንም አይላክም።',
    body: 'ጥሬ አካል',
    bodyHint: 'ልክ እንደደረሰው፣ ምንም የJSON ንባብ ሳይደረግበት።',
    secret: 'ምስጢር',
    secretHint: 'በwhsec_ የሚጀምረው ሙሉ ጽሑፍ።',
    check: 'አረጋግጥ',
  },
);

/** What is wrong, and the remedy. */
export const FINDINGS: Record<Finding, string> = catalogue(
  {
    valid: 'The signature matches. Your code must get the same three values: compare them with what it has.',
    header_malformed:
      'This is neither base64 nor hex of a SHA-256 signature: it was cut, or it is of another header, such as webhook-signature.',
    signature_from_body:
      'This is the field "signature" of the body. It signs the body without the field: use the header X-Service-Signature.',
    secret_has_extra_characters: 'The secret has blanks, a line break or quotes around it. Remove them.',
    secret_prefix_missing: 'The secret lacks its beginning whsec_. The key is the whole text as it was shown.',
    body_missing: 'The body is empty: something has read the request before. Read the raw body first.',
    body_was_changed:
      'The body was changed: parsed and written again, or its line ends differ. Verify the raw bytes, and parse them afterwards.',
    header_of_another_request: 'Body and secret belong together, but the header is of another delivery.',
    wrong_secret:
      'The secret does not belong to this delivery: it is of another subscription or of the other environment, or it was rotated. If it is right, the body was changed on the way.',
  },
  {
    valid: 'ፊርማው ይዛመዳል። ኮድዎ እነዚህኑ ሦስት እሴቶች ማግኘት አለበት፦ ካለው ጋር ያመሳክሯቸው።',
    header_malformed: 'ይህ የSHA-256 ፊርማ base64 ወይም hex አይደለም፦ ተቆርጧል፣ ወይም እንደ webhook-signature ያለ የሌላ ራስጌ ነው።',
    signature_from_body:
      'ይህ በአካሉ ውስጥ ያለው "signature" መስክ ነው። የሚፈርመው መስኩ የሌለበትን አካል ነው፦ X-Service-Signature ራስጌውን ይጠቀሙ።',
    secret_has_extra_characters: 'በምስጢሩ ዙሪያ ባዶ ቦታ፣ አዲስ መስመር ወይም ትምህርተ ጥቅስ አለ። ያስወግዷቸው።',
    secret_prefix_missing: 'ምስጢሩ መነሻው whsec_ ይጎድለዋል። ቁልፉ እንደታየው ሙሉው ጽሑፍ ነው።',
    body_missing: 'አካሉ ባዶ ነው፦ ሌላ ነገር ጥያቄውን አስቀድሞ አንብቦታል። መጀመሪያ ጥሬ አካሉን ያንብቡ።',
    body_was_changed: 'አካሉ ተለውጧል፦ ተነብቦ እንደገና ተጽፏል፣ ወይም የመስመር መጨረሻዎቹ ይለያያሉ። ጥሬ ባይቶቹን ያረጋግጡ፣ ከዚያ ያንብቧቸው።',
    header_of_another_request: 'አካሉና ምስጢሩ አብረው ናቸው፣ ራስጌው ግን የሌላ መላኪያ ነው።',
    wrong_secret: 'ምስጢሩ የዚህ መላኪያ አይደለም፦ የሌላ ምዝገባ ወይም የሌላው አካባቢ ነው፣ ወይም ተቀይሯል። ትክክል ከሆነ አካሉ በመንገድ ተለውጧል።',
  },
);
