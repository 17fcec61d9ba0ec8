// Texts as tools print them. Strings are made from bytes, as those of a child process are, so that they are flat.

const LOG = 'some log line with text and number 12345 of the usual kind here..\n'
const CJK = '漢字かな交じり文のログ行であります。エラーはありません😀。\n'

/** Lines of 66 chars. */
export const ascii = (chars) => flat(LOG, chars)

/** Lines of 30 chars, nearly all of three bytes. */
export const cjk = (chars) => flat(CJK, chars)

/** ASCII with one check mark at the end, which makes the whole string two bytes a char in memory. */
export const mixed = (chars) => Buffer.from(`${flat(LOG, chars - 2)}✓\n`).toString()

function flat(line, chars) {
  return Buffer.from(line.repeat(Math.ceil(chars / line.length)).slice(0, chars)).toString()
}
