import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { ENV, MAIN } from '../builders/paths.ts'
import { until } from '../builders/time.ts'
import { COMMANDS, RUNNERS, runnerOf } from './commands.ts'

/* Every command of a page is run: here, page by page in a folder of its own, or by the file that the table names. */

const ROOT = process.cwd()
const execute = promisify(execFile)

test('every command has a row of the table, and every row a command', () => {
  expect(COMMANDS.filter(one => runnerOf(one) === undefined)).toEqual([])
  const used = new Set(COMMANDS.map(runnerOf))
  expect(RUNNERS.filter(row => !used.has(row))).toEqual([])
  for (const { by } of RUNNERS) if (typeof by === 'string' && by !== 'here') expect(existsSync(by), by).toBe(true)
})

/** Files that commands of the pages read, as their users have them. */
const FILES: { readonly [name: string]: string } = {
  'config.yaml':
    'model_list: [{ model_name: gpt-5.6, litellm_params: { model: openai/gpt-5.6, api_key: a-key, rpm: 9 } }]',
  'channels.json': JSON.stringify({
    data: { items: [{ id: 1, type: 1, name: 'main', models: 'gpt-5.6', group: 'default', status: 1 }] },
  }),
  'config.json': JSON.stringify({
    strategy: { mode: 'fallback' },
    targets: [{ provider: 'openai', api_key: 'a-key' }],
  }),
  'cassette.yaml': `version: 1
interactions:
  - request: { method: POST, uri: "https://api.openai.com/v1/chat/completions", body: '{"model":"m","messages":[{"role":"user","content":"Hi"}]}', headers: {} }
    response: { status: { code: 200, message: OK }, headers: { content-type: [application/json] }, body: { string: '{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"}}]}' } }
`,
  'fixtures.json': JSON.stringify({ fixtures: [{ match: { userMessage: 'hello' }, response: { content: 'Hi' } }] }),
}

describe('commands of the pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'documented-commands-'))
  let gateway: ChildProcess
  let greeting = ''
  beforeAll(async () => {
    writeFileSync(
      join(folder, 'interlingua.yaml'),
      'server: { port: 0, drain: 1ms }\nchannels: [{ name: replay, provider: replay }]\n',
    )
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
    cpSync(join(ROOT, 'fixtures/demo'), join(folder, 'recordings'), { recursive: true })
    gateway = spawn(process.execPath, [MAIN], { cwd: folder, env: ENV })
    gateway.stdout!.on('data', piece => (greeting += piece))
    await until(() => greeting.includes('Try it') || gateway.exitCode !== null, 120_000)
    expect(gateway.exitCode, greeting).toBe(null)
    process.chdir(folder)
  })
  afterAll(async () => {
    process.chdir(ROOT)
    const closed = new Promise(resolve => gateway.once('close', resolve))
    if (gateway.kill('SIGTERM')) await closed
    rmSync(folder, { recursive: true })
  })

  /** Runs a command of `interlingua` in the folder and returns what it prints. */
  async function ran(line: string): Promise<string> {
    const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!)
    const [out, fault]: [string[], string[]] = [[], []]
    const code = await commandLine(words, { out: text => void out.push(text), fault: text => void fault.push(text) })
    expect(code, `${line}: ${[...out, ...fault].join('\n')}`).toBe(0)
    return out.join('\n').trim()
  }

  /** Runs lines in one shell, in which a refused request is an error. */
  async function inShell(lines: readonly string[], token: string): Promise<void> {
    const address = /listens on (\S+)/.exec(greeting)![1]!
    const key = /^key +(\S+)$/m.exec(greeting)![1]!
    const local = `"provider": "custom", "formats": ["chat"], "base_url": "${address}/v1"`
    const script = lines
      .join('\n')
      .replaceAll('http://127.0.0.1:4747', address)
      // A channel of this machine: nothing is sent elsewhere.
      .replaceAll('"provider": "openai"', local)
      .replaceAll('sk-…', 'sk-a-key')
    const strict = `set -eo pipefail
curl() { case " $* " in *" -sSf "* | *" -sf "*) command curl "$@" ;; *) command curl --fail-with-body "$@" ;; esac; }
`
    await execute('bash', ['--norc', '-c', strict + script], {
      cwd: folder,
      env: { PATH: process.env['PATH'], INTERLINGUA_KEY: key, TOKEN: token },
    })
  }

  const PROGRAM = /^(?:npx )?interlingua |^npm start (?:--silent )?-- /
  const here = COMMANDS.filter(one => runnerOf(one)?.by === 'here')
  // The first page is run first, because its `doctor` tries the channels that other pages add.
  const inOrder = here.toSorted((a, b) => Number(b.page === 'docs/start.md') - Number(a.page === 'docs/start.md'))
  const byPage = Map.groupBy(inOrder, ({ page }) => page)

  test.each([...byPage].map(([page, commands]) => [page, commands.map(({ line }) => line)] as const))(
    '%s',
    async (_, lines) => {
      let token = ''
      const shell: string[] = []
      for (const line of lines) {
        const substituted = /^TOKEN=\$\((.*)\)$/.exec(line)?.[1]
        if (substituted !== undefined) {
          token = await ran(substituted.replace(PROGRAM, ''))
        } else if (PROGRAM.test(line)) await inOwnFolder(line.replace(PROGRAM, ''))
        else if (!line.startsWith('export INTERLINGUA_KEY')) shell.push(line)
      }
      if (shell.length > 0) await inShell(shell, token)
    },
  )

  /** Runs a command. One that writes `interlingua.yaml` does so in a folder that has none. */
  async function inOwnFolder(line: string): Promise<void> {
    if (line.startsWith('recordings import')) await ran('recordings export recordings session.har')
    if (line === 'init') mkdirSync('new')
    if (line === 'init') process.chdir('new')
    if (line.includes('--output ')) rmSync('imported.yaml', { force: true })
    await ran(line.replace(/(--output|check) interlingua\.yaml$/, '$1 imported.yaml'))
    process.chdir(folder)
  }
})
