import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

/* The GitHub Action of the kit: its steps run here in a clean folder, except for the two that need the service. */

interface Step {
  readonly name: string
  readonly run?: string
  readonly shell?: string
  readonly uses?: string
  readonly with?: { readonly [name: string]: string }
  readonly if?: string
  readonly env?: { readonly [name: string]: string }
}

interface Action {
  readonly inputs: { readonly [name: string]: { readonly description: string; readonly default: string } }
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

const HOME = resolve('conformance/action')
const { inputs, runs } = parse(readFileSync(join(HOME, 'action.yml'), 'utf8')) as Action
const step = (name: string): Step => runs.steps.find(one => one.name === name)!

/** A text of the action with its expressions filled in. */
const filled = (text: string, given: { readonly [input: string]: string }): string =>
  text.replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
    const values = expression.split(' || ').map(term => termValue(term, given))
    return values.find(value => value !== '') ?? ''
  })

/** Returns the value of a term of an expression. */
function termValue(term: string, given: { readonly [input: string]: string }): string {
  if (term === 'github.action_path') return HOME
  const input = /^inputs\.([\w-]+)$/.exec(term)?.[1]
  if (input === undefined || !(input in inputs)) throw new Error(`no input in ${term}`)
  return given[input] ?? inputs[input]!.default
}

function ran(given: { readonly [input: string]: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-action-'))
  const { env = {}, run = '' } = step('Run the kit')
  const filledIn = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, filled(text, given)]))
  const summary = join(folder, 'summary.md')
  const base = { PATH: process.env['PATH'], GITHUB_STEP_SUMMARY: summary }
  const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
    ...{ cwd: folder, env: { ...base, ...filledIn }, encoding: 'utf8' },
  })
  return { status, printed: stdout + stderr, folder, summary }
}

test('it is composite, and every step names its shell or its action', () => {
  expect(runs.using).toBe('composite')
  for (const one of runs.steps) expect(one.run === undefined ? one.uses : one.shell).toBeTruthy()
  for (const one of Object.values(inputs)) expect(one.description).toBeTruthy()
  expect(step('Install the kit').run).toBe('npm ci --no-audit --no-fund')
  // Reports are uploaded after a failed run, too.
  expect(step('Upload the reports').if).toBe('always()')
})

describe('the run', () => {
  test('ends with 0 and leaves every report and a summary', () => {
    const { status, printed, folder, summary } = ran({ peer: 'proxy', only: 'chat-chat/text/*', door: 'chat' })
    expect(status, printed).toBe(0)
    for (const file of ['results.json', 'results.html', 'results.xml', 'results.md', 'badge.json'])
      expect(existsSync(join(folder, 'conformance-reports', file)), file).toBe(true)
    expect(readFileSync(summary, 'utf8')).toContain('# Conformance of Plain proxy')
  })

  test('ends with 1 for a failure, and still leaves its reports', () => {
    const given = { target: 'http://127.0.0.1:9', key: 'a key', model: 'm', door: 'chat', only: 'chat/text/whole' }
    const { status, folder, summary } = ran(given)
    expect(status).toBe(1)
    expect(existsSync(join(folder, 'conformance-reports', 'results.xml'))).toBe(true)
    expect(readFileSync(summary, 'utf8')).toContain('chat/text/whole')
  })
})

test('without a model, the run says so instead of testing a model without a name', () => {
  const { status, printed } = ran({ target: 'http://127.0.0.1:9', key: 'a key' })
  expect(status).toBe(2)
  expect(printed).toContain('--target requires --model')
})

test('two uses of one workflow upload their reports under different names', () => {
  const { with: options } = step('Upload the reports')
  expect(filled(options!['name']!, {})).toBe('conformance-reports')
  expect(filled(options!['name']!, { artifact: 'of-peer' })).toBe('of-peer')
})
