/** Words that once stood for what docs/glossary.md names; in identifiers of any kind. */
const OLD_WORDS =
  /[dD]eed|DEED|[eE]yes|knownTo|^told|[a-z]Told|TOLD|^tell|[a-z]Tell(?![a-z])|^poke|^rungs?(?![a-z])|[a-z]Rungs?(?![a-z])|[lL]adder|LADDER|hasten|whence|leadsTo|[dD]oubt|DOUBT|[cC]hore|[eE]verybodys|^lasting|Lasting|LASTING|[pP]atience|PATIENCE|[fF]orGood|[wW]oken|[aA]skable|ASKABLE|^ownerOf$/;

const oldWords = {
  create: (context) => ({
    Identifier(node) {
      const found = OLD_WORDS.exec(node.name);
      if (!found) return;
      const message = `"${node.name}": "${found[0]}" is not a word of docs/glossary.md; use the standard term.`;
      context.report({ node, message });
    },
  }),
};

/** A plugin of the linter: identifiers use the words of docs/glossary.md. */
export default { meta: { name: 'glossary' }, rules: { 'no-old-words': oldWords } };
