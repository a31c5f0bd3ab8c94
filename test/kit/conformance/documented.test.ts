import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { commandLine } from '../../../src/commands/command-line.ts'
import { readPeer } from '../../../src/kit/conformance/peer.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'

/* The commands and the peer of the kit's page work as documented. */

const PAGE = readFileSync('docs/conformance-kit.md', 'utf8')
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(/```(\w+)\n([\s\S]*?)```/g)].flatMap(([, name, text]) => (name === language ? text! : []))
const COMMANDS = blocks('sh').flatMap(text => text.trim().split('\n'))

/** Splits a command line into words. Quotes only group. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!)

/** Recordings of the demo stand for those that the page names. */
const RECORDINGS: ReadonlyMap<string, string> = new Map([
  ['recordings/chat-hello-1f0c9a3b.json', 'fixtures/demo/chat/hello.json'],
  ['more-recordings', 'fixtures/demo/chat/any-hello.json'],
])

describe('commands', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-page-'))
  let upstream: Upstream
  beforeAll(async () => {
    upstream = await Upstream.open()
    upstream.play(readScenario('text'))
    writeFileSync(join(folder, 'expected.txt'), '')
  })
  afterAll(() => upstream.close())

  test('there are some', () => expect(COMMANDS.length).toBeGreaterThan(5))

  test.each(COMMANDS)('%s', async line => {
    const [program, ...words] = wordsOf(line)
    expect(program).toBe('interlingua')
    const args = words.map(word =>
      RECORDINGS.has(word)
        ? RECORDINGS.get(word)!
        : /\.(json|html|xml|md|txt)$|^results$/.test(word)
          ? join(folder, word)
          : word.replace('http://127.0.0.1:4000/v1', upstream.base('chat')).replace('$KEY', 'a-key'),
    )
    // One scenario represents all. Their runs have tests of their own.
    if (!args.includes('--only') && !args.includes('diff') && !args.includes('judge')) args.push('--only', '*/text/*')
    let printed = ''
    const print = (text: string) => (printed += `${text}\n`)
    expect(await commandLine(args, { out: print, fault: print }), printed).toBe(0)
  })
})

test('the peer is one that the kit can start', () => {
  const [yaml] = blocks('yaml')
  const folder = mkdtempSync(join(tmpdir(), 'conformance-peer-'))
  writeFileSync(join(folder, 'peer.yaml'), yaml!)
  const peer = readPeer(folder)
  const written = parse(yaml!) as { [name: string]: unknown }
  expect(peer).toMatchObject({
    ...{ name: 'mine', lossHeader: 'x-lost-fields', health: '/health' },
    upstreams: { chat: ['chat', 'messages'], messages: ['chat', 'messages'] },
    ...{ callers: written['callers'], files: written['files'], program: written['program'] },
  })
  expect(peer.start[0]).toMatch(/^\$\{program\}$/)
})
