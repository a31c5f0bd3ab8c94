import { join } from 'node:path'
import type { Plugin } from 'vite'

/** Text beyond ASCII would take two bytes for every character of a file in memory. */
export const ascii: Plugin = {
  name: 'ascii',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const one of Object.values(bundle)) if (one.type === 'chunk') one.code = inAscii(one.code)
    },
  },
}

/** The same program: texts, expressions and names may all have their characters escaped. */
const inAscii = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Of `undici`, what is used: the rest of it is four fifths. */
export const undiciParts: Plugin = {
  name: 'undici-parts',
  enforce: 'pre',
  resolveId: source => (source === 'undici' ? join(import.meta.dirname, 'undici.cjs') : undefined),
}

interface Late {
  /** The end of the path of a package's file, and a line of it that loads what most processes never use. */
  readonly file: string
  readonly line: string
  /** A line that loads it with its first use. */
  readonly late: string
}

const LATE: readonly Late[] = [
  {
    // HTTP/2, and with it TLS.
    file: '/undici/lib/dispatcher/client.js',
    line: "const connectH2 = require('./client-h2.js')",
    late: "const connectH2 = (...args) => require('./client-h2.js')(...args)",
  },
]

/** Has parts of packages loaded when they are first used. Fails where a package is not as it is expected. */
export const latePackages: Plugin = {
  name: 'late-packages',
  enforce: 'pre',
  transform(code, id) {
    const lates = LATE.filter(({ file }) => id.endsWith(file))
    const missing = lates.find(({ line }) => !code.includes(line))
    if (missing !== undefined) this.error(`${missing.file} has no line "${missing.line}"`)
    return lates.length === 0 ? undefined : lates.reduce((text, { line, late }) => text.replace(line, () => late), code)
  },
}
