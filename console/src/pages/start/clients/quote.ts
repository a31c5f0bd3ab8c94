const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/

/** One word of a POSIX shell, whatever is in it. */
export const word = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Controls that JSON leaves as they are and TOML forbids, and characters that change how a line is shown. */
const HIDDEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** A string literal of JSON, TOML, Python and JavaScript alike. */
export const literal = (text: string): string =>
  JSON.stringify(text).replace(HIDDEN, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Indented JSON. */
export const json = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(HIDDEN, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Lines that set variables of a shell. */
export const exported = (variables: { readonly [name: string]: string }): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${word(value)}\n`)
    .join('')
