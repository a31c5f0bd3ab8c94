import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PAGE = join(import.meta.dirname, '../../docs/testing.md')

/** A file in a code block that begins with its name: `// hello.test.ts` or `# conftest.py`. */
const FILE = /^```(?:ts|js|python)\n(?:\/\/|#) (\S+)\n([\s\S]*?)^```/gm

/** The files of docs/testing.md by name. */
export const DOCUMENTED_TESTS: ReadonlyMap<string, string> = new Map(
  [...readFileSync(PAGE, 'utf8').matchAll(FILE)].map(([, name, text]) => [name!, text!]),
)

/** Returns a documented file. */
export function documentedTest(name: string): string {
  const text = DOCUMENTED_TESTS.get(name)
  if (text === undefined) throw new Error(`docs/testing.md has no ${name}`)
  return text
}

/** Returns a test with another upstream, to record without a provider. */
export const withUpstream = (test: string, url: string): string =>
  test.replace(/upstream: 'https:[^']+'/, `upstream: '${url}'`)

/** Returns a test with a prompt that no recording has. */
export const withOtherPrompt = (test: string): string => test.replace('Say hello.', 'Say goodbye.')
