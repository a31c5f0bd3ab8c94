const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/

/** Quotes a string as one word of a POSIX shell. */
export const word = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Characters to escape: controls that JSON allows and TOML forbids, and invisible or bidirectional characters. */
const HIDDEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** String literal that is valid in JSON, TOML, Python and JavaScript. */
export const literal = (text: string): string =>
  JSON.stringify(text).replace(HIDDEN, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Writes a value as indented JSON. */
export const json = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(HIDDEN, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Shell lines that export variables. */
export const exported = (variables: { readonly [name: string]: string }): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${word(value)}\n`)
    .join('')
