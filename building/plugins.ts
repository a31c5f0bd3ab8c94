import { join } from 'node:path'
import type { Plugin } from 'vite'

/** Writes a file in ASCII. A single other character would make the file take two bytes per character in memory. */
export const ascii: Plugin = {
  name: 'ascii',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const one of Object.values(bundle)) if (one.type === 'chunk') one.code = inAscii(one.code)
    },
  },
}

/** The same program with escapes. All characters in strings, regular expressions and names can be escaped. */
const inAscii = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Replaces `undici` by the parts that are used. The unused parts are four fifths of the package. */
export const undiciParts: Plugin = {
  name: 'undici-parts',
  enforce: 'pre',
  resolveId: source => (source === 'undici' ? join(import.meta.dirname, 'undici.cjs') : undefined),
}

interface Late {
  /** End of the path of a file, and one of its lines that loads code most processes never use. */
  readonly file: string
  readonly line: string
  /** Replacement for that line that loads the code at its first use. */
  readonly late: string
}

const LATE: readonly Late[] = [
  {
    // HTTP/2, which also loads TLS.
    file: '/undici/lib/dispatcher/client.js',
    line: "const connectH2 = require('./client-h2.js')",
    late: "const connectH2 = (...args) => require('./client-h2.js')(...args)",
  },
]

/**
 * Makes packages load some of their parts at first use. Fails if a file of a package does not contain the expected
 * line.
 */
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
