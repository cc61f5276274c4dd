import { catalogue } from '../../ui/language.ts';
import type { Finding } from './signature.ts';

export const text = catalogue({
  title: ['Check a signature', 'ፊርማ ያረጋግጡ'],
  back: ['All events', 'ሁሉም ክስተቶች'],
  intro: [
    'Paste what your server received. It is compared in this browser only; nothing is sent.',
    'አገልጋይዎ የተቀበለውን ይለጥፉ። የሚመሳከረው በዚህ አሳሽ ውስጥ ብቻ ነው፤ ምንም አይላክም።',
  ],
  body: ['Raw body', 'ጥሬ አካል'],
  bodyHint: ['Exactly as received, before any JSON parsing.', 'ልክ እንደደረሰው፣ ምንም የJSON ንባብ ሳይደረግበት።'],
  secret: ['Secret', 'ምስጢር'],
  secretHint: ['The whole text that begins with whsec_.', 'በwhsec_ የሚጀምረው ሙሉ ጽሑፍ።'],
  check: ['Check', 'ያረጋግጡ'],
});

/** What is wrong, and the remedy. */
export const FINDINGS: Record<Finding, string> = catalogue({
  valid: [
    'The signature matches. Your code must get the same three values: compare them with what it has.',
    'ፊርማው ይዛመዳል። ኮድዎ እነዚህኑ ሦስት እሴቶች ማግኘት አለበት፦ ካለው ጋር ያመሳክሯቸው።',
  ],
  header_malformed: [
    'This is neither base64 nor hex of a SHA-256 signature: it was cut, or it is of another header, such as webhook-signature.',
    'ይህ የSHA-256 ፊርማ base64 ወይም hex አይደለም፦ ተቆርጧል፣ ወይም እንደ webhook-signature ያለ የሌላ ራስጌ ነው።',
  ],
  signature_from_body: [
    'This is the field "signature" of the body. It signs the body without the field: use the header X-Service-Signature.',
    'ይህ በአካሉ ውስጥ ያለው "signature" መስክ ነው። የሚፈርመው መስኩ የሌለበትን አካል ነው፦ X-Service-Signature ራስጌውን ይጠቀሙ።',
  ],
  secret_has_extra_characters: [
    'The secret has blanks, a line break or quotes around it. Remove them.',
    'በምስጢሩ ዙሪያ ባዶ ቦታ፣ አዲስ መስመር ወይም ትምህርተ ጥቅስ አለ። ያስወግዷቸው።',
  ],
  secret_prefix_missing: [
    'The secret lacks its beginning whsec_. The key is the whole text as it was shown.',
    'ምስጢሩ መነሻው whsec_ ይጎድለዋል። ቁልፉ እንደታየው ሙሉው ጽሑፍ ነው።',
  ],
  body_missing: [
    'The body is empty: something has read the request before. Read the raw body first.',
    'አካሉ ባዶ ነው፦ ሌላ ነገር ጥያቄውን አስቀድሞ አንብቦታል። መጀመሪያ ጥሬ አካሉን ያንብቡ።',
  ],
  body_was_changed: [
    'The body was changed: parsed and written again, or its line ends differ. Verify the raw bytes, and parse them afterwards.',
    'አካሉ ተለውጧል፦ ተነብቦ እንደገና ተጽፏል፣ ወይም የመስመር መጨረሻዎቹ ይለያያሉ። ጥሬ ባይቶቹን ያረጋግጡ፣ ከዚያ ያንብቧቸው።',
  ],
  header_of_another_request: [
    'Body and secret belong together, but the header is of another delivery.',
    'አካሉና ምስጢሩ አብረው ናቸው፣ ራስጌው ግን የሌላ መላኪያ ነው።',
  ],
  wrong_secret: [
    'The secret does not belong to this delivery: it is of another subscription or of the other environment, or it was rotated. If it is right, the body was changed on the way.',
    'ምስጢሩ የዚህ መላኪያ አይደለም፦ የሌላ ምዝገባ ወይም የሌላው አካባቢ ነው፣ ወይም ተቀይሯል። ትክክል ከሆነ አካሉ በመንገድ ተለውጧል።',
  ],
});
