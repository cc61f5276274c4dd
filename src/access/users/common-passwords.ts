/**
 * The words that common passwords consist of, without the digits and signs around them: what remains of a password
 * without those must not be one of them, or a repetition of one.
 */
export const COMMON_WORDS: ReadonlySet<string> = new Set(
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
