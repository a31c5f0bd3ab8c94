import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { commandLine } from '../../../src/commands/command-line.ts'
import { readMatrix } from '../../../src/commands/conformance-matrix.ts'
import type { Results } from '../../../src/kit/conformance/report/results.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { DEFAULT_SPECS, specsIn } from '../../../src/kit/conformance/specs.ts'

/* The option --spec: a run in one of the versions of a format. */

const NEWER = '2026-10-21'
const ANSWER = readScenario('version-sampling').wires['messages']!.whole!
const REFUSAL = { type: 'error', error: { type: 'invalid_request_error', message: 'temperature: not permitted' } }

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

interface Came {
  readonly headers: IncomingHttpHeaders
  readonly body: { readonly [field: string]: unknown }
}

/** Opens an endpoint that refuses a temperature in the newer version if it is strict. Collects what came. */
async function endpoint(isStrict: boolean): Promise<{ readonly url: string; readonly came: Came[] }> {
  const came: Came[] = []
  const server = createServer(async (request, reply) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Came['body']
    came.push({ headers: request.headers, body })
    const isRefused = isStrict && request.headers['anthropic-version'] === NEWER && 'temperature' in body
    reply.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' })
    reply.end(isRefused ? JSON.stringify(REFUSAL) : ANSWER)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came }
}

async function conformance(...args: string[]) {
  const file = join(mkdtempSync(join(tmpdir(), 'conformance-spec-')), 'results.json')
  let printed = ''
  const print = (text: string) => (printed += `${text}\n`)
  const code = await commandLine(['conformance', ...args, '--json', file], { out: print, fault: print })
  return { code, printed, results: () => JSON.parse(readFileSync(file, 'utf8')) as Results }
}

const live = (url: string, only: string, ...more: string[]) =>
  conformance('--target', url, '--key', 'a-key', '--model', 'm', '--caller', 'messages', '--only', only, ...more)

const statusOf = ({ checks }: Results, rule: string): string | undefined =>
  checks.find(check => check.rule === rule)?.status

describe('live', () => {
  test('requests name the version, and have the key where its clients send it', async () => {
    const { url, came } = await endpoint(true)
    const old = await live(url, 'messages/setting-temperature/whole')
    const { code, results } = await live(url, 'messages/setting-temperature/whole', '--spec', `messages@${NEWER}`)
    expect([old.code, code]).toEqual([0, 0])
    expect(came[0]).toMatchObject({
      headers: { 'anthropic-version': '2023-06-01', 'x-api-key': 'a-key' },
      body: { temperature: 0.35 },
    })
    expect(came[1]!.headers).toMatchObject({ 'anthropic-version': NEWER, authorization: 'Bearer a-key' })
    expect(came[1]!.headers).not.toHaveProperty('x-api-key')
    // What the version refuses is left out of scenarios that are not about it.
    expect(came[1]!.body).not.toHaveProperty('temperature')
    expect(results().specs?.['messages']).toMatchObject({
      version: NEWER,
      schemas: expect.stringContaining('https://'),
    })
    expect(old.results().specs?.['messages']?.version).toBe('2023-06-01')
    expect(results().cells[0]!.command).toContain(`--spec messages@${NEWER}`)
  })

  test.each([
    [true, 'pass'],
    [false, 'advice'],
  ])('the version’s refusal is a recommendation (strict: %s)', async (isStrict, status) => {
    const { url, came } = await endpoint(isStrict)
    const { code, results } = await live(url, 'messages/version-sampling/whole', '--spec', `messages@${NEWER}`)
    expect(came[0]!.body).toHaveProperty('temperature')
    expect(code).toBe(0)
    expect(statusOf(results(), 'answer.version.refused')).toBe(status)
    expect(statusOf(results(), 'error.error-type')).toBe(isStrict ? 'pass' : undefined)
  })

  test('the version before takes the same request', async () => {
    const { url } = await endpoint(true)
    const { code, results } = await live(url, 'messages/version-sampling/whole')
    expect(code).toBe(0)
    expect(statusOf(results(), 'answer.version.refused')).toBeUndefined()
    expect(statusOf(results(), 'answer.http.status')).toBe('pass')
  })
})

describe('translation', () => {
  const translated = (...args: string[]) => {
    return conformance('--peer', 'interlingua', ...args)
  }

  test('the upstream of the peer has the version: what it refuses is lost with a report', async () => {
    const only = '*-messages/setting-temperature/whole'
    const { code, results } = await translated('--spec', `messages@${NEWER}`, '--only', only)
    expect(code).toBe(0)
    const { checks, specs } = results()
    expect(specs?.['messages']?.version).toBe(NEWER)
    const fates = checks.filter(({ rule }) => rule === 'request.meaning:settings.temperature')
    expect(fates.map(({ cell, meaning }) => [cell.split('/')[0], meaning])).toEqual([
      ['chat-messages', 'lost-reported'],
      ['responses-messages', 'lost-reported'],
      ['contents-messages', 'lost-reported'],
    ])
    expect(checks.filter(({ rule, status }) => rule === 'request.version-fields' && status === 'pass')).toHaveLength(4)
  })

  test('a matrix runs its peers with the version, and names it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conformance-spec-'))
    const file = join(folder, 'matrix.json')
    const options = ['--spec', `messages@${NEWER}`, '--only', 'messages-messages/text/whole', '--json', file]
    const print = (): void => {}
    const args = ['conformance', 'matrix', 'proxy', ...options, '--results', folder]
    expect(await commandLine(args, { out: print, fault: print })).toBe(0)
    const [row] = readMatrix(file).peers
    expect(row?.version ?? '').toContain(`with messages@${NEWER}`)
    const { cells } = JSON.parse(readFileSync(join(folder, 'proxy.json'), 'utf8')) as Results
    expect(cells[0]!.command).toContain(`--spec messages@${NEWER}`)
  })

  test('without the option the temperature is kept', async () => {
    const { results } = await translated('--only', '*-messages/setting-temperature/whole')
    const fates = results().checks.filter(({ rule }) => rule === 'request.meaning:settings.temperature')
    expect(fates.map(({ meaning }) => meaning)).toEqual(['kept', 'kept', 'kept', 'kept'])
  })
})

describe('the option', () => {
  test('is read', () => {
    expect(specsIn(`messages@${NEWER}`)).toEqual({ messages: NEWER })
    expect(DEFAULT_SPECS).toEqual({ messages: '2023-06-01' })
  })

  test.each([
    ['messages', /Expected FORMAT@VERSION instead of messages/],
    ['messages@', /Expected FORMAT@VERSION/],
    ['messages@2026-10-21@x', /Expected FORMAT@VERSION/],
    ['messages@2024-01-01', /no version 2024-01-01 of messages \(2023-06-01, 2026-10-21\)/],
    ['chat@1', /no versions of chat, only of messages/],
    ['messages@2026-10-21,messages@2023-06-01', /messages has two versions/],
  ])('%s is refused', async (text, message) => {
    const { code, printed } = await conformance('--peer', 'proxy', '--spec', text)
    expect(code).toBe(2)
    expect(printed).toMatch(message)
  })
})
