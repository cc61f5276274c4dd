import { hash, verify } from '@node-rs/argon2';

/** argon2id, the default algorithm of the package, with OWASP's parameters. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Of no password. It is verified where an account does not exist, so that the response takes as long as any other. */
const NO_ACCOUNT = hash(crypto.randomUUID(), COST);

/** The hash to store, with its parameters and salt. */
export async function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

/** Whether this is the password of the hash; takes as long without one. */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const matches = await verify(passwordHash ?? (await NO_ACCOUNT), password);
  return matches && passwordHash !== null;
}

/** Characters of a password. Longer ones would take long to hash. */
export const PASSWORD_CHARACTERS = { min: 10, max: 256 };

/**
 * The words that common passwords consist of, without the digits and signs around them: what remains of a password
 * without those must not be one of them, or a repetition of one.
 */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  `password passwort passw0rd motdepasse contrasena pass passwd admin administrator root user guest test testing login
  welcome letmein changeme default secret qwerty qwertyuiop qwertyui asdfgh asdfghjkl zxcvbn zxcvbnm qazwsx qwe asd zxc
  abc abcd abcde abcdef abcdefg abcdefgh abcdefghij iloveyou loveyou love lovely princess prince sunshine monkey dragon
  football baseball basketball soccer hockey master superman batman spiderman starwars pokemon naruto shadow michael
  jordan jessica jennifer ashley daniel charlie thomas robert george andrew joshua matthew hunter killer summer winter
  spring autumn monday friday january computer internet samsung google facebook instagram youtube whatsapp telegram
  microsoft windows android iphone apple cheese cookie chocolate banana orange flower freedom whatever trustno nothing
  hello helloworld welcometo access money dollar mustang ferrari porsche mercedes toyota yamaha honda liverpool arsenal
  chelsea barcelona manchester manchesterunited realmadrid ronaldo messi blessed blessing jesus jesuschrist godisgood
  godislove emmanuel amanuel samuel gabriel michaeljordan angel ethiopia ethiopian ethio habesha abyssinia addis
  addisababa lalibela axum gondar oromia tigray amhara meskel meskerem selam tesfaye abebe kebede bekele haile hailu
  girma tadesse alemu dawit yonas hana marta sara birhan berhan tewodros menelik adwa telebirr ethiotelecom cbebirr
  awash dashen meskot merchant payment checkout business company office manager finance owner developer support demo
  correcthorsebatterystaple`.split(/\s+/),
);

/** Letters that digits and signs stand for. */
const LEET: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's' };

/** Why a new password cannot be taken; null: it can. `about`: what others know of the person, such as the address. */
export function passwordIssue(password: string, about: readonly string[]): 'short' | 'long' | 'common' | null {
  if (password.length < PASSWORD_CHARACTERS.min) return 'short';
  if (password.length > PASSWORD_CHARACTERS.max) return 'long';
  const text = password.toLowerCase();
  const plain = text.replaceAll(/[^a-z]/g, '');
  const isLetter = (character: string): boolean => character >= 'a' && character <= 'z';
  const characters = Array.from(text);
  const unleet = characters
    .slice(characters.findIndex(isLetter), characters.findLastIndex(isLetter) + 1)
    .map((sign) => LEET[sign] ?? sign)
    .filter(isLetter)
    .join('');
  const ownNames = about.flatMap((one) => one.toLowerCase().match(/[a-z]{2,}/g) ?? []);
  const isCommon = [plain, unleet].some((word) => COMMON_WORDS.has(repeated(word)) || consistsOf(word, ownNames));
  const letters = text.replaceAll(/\P{L}/gu, '').length;
  const isPlain = new Set(characters).size < 5 || isSequence(text) || (letters < 3 && characters.length < 15);
  return isCommon || isPlain ? 'common' : null;
}

/** What a text repeats: "abc" of "abcabc"; else the text. */
function repeated(text: string): string {
  // A text that repeats a part of itself is found in its own double before its second half.
  const length = (text + text).indexOf(text, 1);
  return text.slice(0, length);
}

/** Whether a text of more than three letters has nothing but these words, in any order. */
function consistsOf(text: string, words: readonly string[]): boolean {
  const longestFirst = words.toSorted((one, other) => other.length - one.length);
  return text.length > 3 && longestFirst.reduce((rest, word) => rest.replaceAll(word, ' '), text).trim() === '';
}

/** Whether each character follows the one before, up or down. */
function isSequence(text: string): boolean {
  const codes = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)));
  return steps.size === 1 && (steps.has(1) || steps.has(-1));
}
