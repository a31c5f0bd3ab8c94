import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, describe, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { openProxy, type RunningProxy } from '../../src/kit/conformance/proxy/index.ts'
import { saboteur as doneMissing } from '../../src/kit/conformance/saboteurs/done-missing.ts'
import { readScenario } from '../../src/kit/conformance/scenario.ts'
import { Upstream } from '../../src/kit/conformance/upstream.ts'

async function conformance(...args: string[]) {
  let out = ''
  let fault = ''
  const terminal = { out: (text: string) => (out += `${text}\n`), fault: (text: string) => (fault += `${text}\n`) }
  const code = await commandLine(['conformance', ...args], terminal)
  return { code, out, fault }
}

const fileName = (): string => join(mkdtempSync(join(tmpdir(), 'conformance-')), 'results.json')

describe('conformance', () => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })

  test('a peer: results are valid by the published schema, and the exit code is 0', async () => {
    const file = fileName()
    const { code, out, fault } = await conformance('--peer', 'proxy', '--only', '*/text/*', '--json', file)
    expect({ code, fault }).toEqual({ code: 0, fault: '' })
    expect(out).toMatch(/Plain proxy: 32 cells, \d+ checks: \d+ passed, 0 failed/)
    const results = JSON.parse(readFileSync(file, 'utf8'))
    const validate = new Ajv2020().compile(JSON.parse(readFileSync('conformance/results.schema.json', 'utf8')))
    expect(validate(results), JSON.stringify(validate.errors)).toBe(true)
  })

  test('live: a failure shows rule, source, both sides and the command that repeats it, but no key', async () => {
    const upstream = await Upstream.open()
    const proxy: RunningProxy = await openProxy({ upstream: upstream.root, meddling: doneMissing })
    opened.push(upstream, proxy)
    upstream.play(readScenario('text'))
    const file = fileName()
    const rest = [
      '--key',
      'secret-key',
      '--model',
      'kit',
      '--door',
      'chat',
      '--json',
      file,
      '--only',
      'chat/text/stream',
    ]
    const good = await conformance('--target', upstream.base('chat'), ...rest)
    expect(good.code, good.out).toBe(0)
    const bad = await conformance('--target', `${proxy.root}/chat/v1`, ...rest)
    expect(bad.code).toBe(1)
    expect(bad.out).toMatch(
      /^FAIL chat\/text\/stream\/stream\.done\n.*\(https:.*\n.*\n {2}Repeat: interlingua conformance --target/m,
    )
    const { cells } = JSON.parse(readFileSync(file, 'utf8'))
    expect(cells[0].wire.request.body).toContain('Grüße')
    expect(cells[0].wire.answer.body).toContain('Grüße')
    expect(readFileSync(file, 'utf8') + bad.out).not.toContain('secret-key')
  })

  test('wrong usage ends with 2', async () => {
    expect((await conformance()).code).toBe(2)
    expect((await conformance('--target', 'http://127.0.0.1:9')).fault).toMatch(/--model/)
    expect((await conformance('--peer', 'proxy', '--door', 'chatt')).fault).toMatch(/chat/)
    expect((await conformance('--peer', 'proxy', '--only', 'nothing')).code).toBe(2)
  })
})
