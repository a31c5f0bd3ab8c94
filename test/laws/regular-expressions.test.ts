import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkSync } from 'recheck'
import { parseSync, Visitor } from 'vite'
import { expect, test } from 'vitest'

/* No regular expression takes more than linear time for a text that others choose (trap 107). */

const SRC = join(import.meta.dirname, '../../src')

/** Folder of changes to fixed texts of the conformance kit. */
const FIXED_TEXTS = /^kit\/conformance\/saboteurs\//

/** Expressions whose time grows with the square of the text, and why the text stays short or cannot be like that. */
const SHORT: { readonly [source: string]: string } = {
  '(?:key|token|secret|auth|bearer)[^.,\\s]*(?:\\.|\\s*,\\s*)([^,\\s]+)': 'headers, of at most 16 kB',
  '\\b[a-z][a-z0-9+.-]*:\\/\\/[^\\s/@:]*:([^\\s/@]+)@': "values of the kit's config, which its user writes",
  '\\d+(?:\\.\\d+)+(?:-[\\w.]+)?': 'the version that a gateway prints, of which a few lines are read',
  '(^|\\s)#.*$': 'lines of a file that the user of the kit writes',
  '\\uFFFD+$': 'the reason of a closed socket has at most 123 bytes',
  '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"': 'only JSON that was parsed before, whose strings end',
  '^(?:ERR_(?:TLS|SSL)_\\w+|EPROTO|CERT_\\w+|CRL_\\w+|\\w*_CERT\\w*|UNABLE_TO_\\w+|INVALID_CA|HOSTNAME_MISMATCH)$':
    'codes of errors that Node names',
  '(\\w+ text)\\b': 'statements of the migrations',
  '(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)$': 'addresses, of at most 45 characters',
  '<[^>]*>': 'the text ends with the last `>`',
  '([\\d,]+) tokens > ': 'messages of errors, of at most 4,000 characters',
  '([\\d,]+) maximum context length': 'messages of errors, of at most 4,000 characters',
  '\\/model\\/(.+)\\/(converse|converse-stream|count-tokens)$': 'paths, of at most 32 kB with all headers',
  '^.*?\\/(?:models|tunedModels|dynamic|endpoints)\\/(.*):([a-zA-Z]+)$': 'paths, of at most 32 kB with all headers',
  '^(.*?\\/(?:models|tunedModels|dynamic|endpoints)\\/).*:([a-zA-Z]+)$': 'paths, of at most 32 kB with all headers',
  "too many arguments for 'serve'.*: ([^\\s,.]+).*": 'messages about the command line',
}

interface Expression {
  readonly source: string
  readonly flags: string
  readonly where: string
}

/** Time for one expression, in milliseconds. */
const TIMEOUT = 1000

/** Checks an expression. Those with a look-ahead or a back reference cannot be checked. */
const isQuadratic = ({ source, flags }: Pick<Expression, 'source' | 'flags'>): boolean =>
  checkSync(source, flags, { checker: 'automaton', timeout: TIMEOUT }).status === 'vulnerable'

/** Returns the regular expressions with a quantifier in the sources, each once. */
function expressions(): readonly Expression[] {
  const found = new Map<string, Expression>()
  for (const file of globSync('**/*.ts', { cwd: SRC })) {
    if (FIXED_TEXTS.test(file)) continue
    const { program } = parseSync(file, readFileSync(join(SRC, file), 'utf8'))
    new Visitor({
      Literal(node) {
        if (!('regex' in node) || !/[*+{]/.test(node.regex.pattern)) return
        const { pattern: source, flags } = node.regex
        found.set(`${source} ${flags}`, { source, flags, where: file })
      },
    }).visit(program)
  }
  return [...found.values()]
}

test('no regular expression takes quadratic time for a text that others choose', { timeout: 300_000 }, () => {
  const all = expressions()
  expect(all.length).toBeGreaterThan(300)
  const slow = all.filter(isQuadratic)
  expect(slow.filter(({ source }) => SHORT[source] === undefined)).toEqual([])
  expect(Object.keys(SHORT).filter(source => !all.some(one => one.source === source))).toEqual([])
})

test('the checker finds quadratic and exponential expressions', () => {
  const found = ['^\\s*(\\d*)\\s*$', '<[^>]*>', '^(a|a)*$', '^a*$'].filter(source => isQuadratic({ source, flags: '' }))
  expect(found).toEqual(['^\\s*(\\d*)\\s*$', '<[^>]*>', '^(a|a)*$'])
})
