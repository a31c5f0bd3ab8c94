import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findNamespace, within } from '../../agents/namespace.ts'
import { openDemo } from '../../builders/demo.ts'
import { documentedTest, withOtherPrompt, withUpstream } from '../../builders/documented-tests.ts'
import { envWith, type NodeVersions } from '../node-versions.ts'
import type { Outcomes } from '../outcomes.ts'

/*
 * Tests of applications, as docs/testing.md shows them: recorded and replayed by vitest and jest with the installed
 * package, under each Node.
 */

/** Key of a provider, which no recording may have. */
const SECRET = 'sk-of-an-application'

interface Runner {
  readonly name: string
  /** Documented test. */
  readonly file: string
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly passed: RegExp
}

const RUNNERS: readonly Runner[] = [
  {
    ...{ name: 'vitest', file: 'hello.test.ts', env: {} },
    command: ['npx', 'vitest', 'run', '--reporter=verbose'],
    passed: /Tests +1 passed/,
  },
  {
    ...{ name: 'jest', file: 'hello.test.js', env: { NODE_OPTIONS: '--experimental-vm-modules' } },
    command: ['npx', 'jest'],
    passed: /Tests: +1 passed/,
  },
]

/** Packages of an application: the newest ones, and for Node 20 the newest ones that still run there. */
const NEWEST = ['vitest@latest', 'jest@latest', 'openai@latest', '@anthropic-ai/sdk@latest']
const FOR_NODE_20 = ['vitest@4', 'jest@latest', 'openai@6', '@anthropic-ai/sdk@latest']

const packagesFor = (version: string): readonly string[] => (version === '20' ? FOR_NODE_20 : NEWEST)

/**
 * @param folder folder for applications.
 * @param file the package.
 */
export async function testsOfApplications(
  outcomes: Outcomes,
  { folder, file, versions, nodes }: { folder: string; file: string; versions: readonly string[]; nodes: NodeVersions },
): Promise<void> {
  const way = findNamespace()
  if (way === undefined) console.log('  Replays are not cut off from the network: no namespace can be made here')
  const mock = await openDemo()
  const installed = new Map<readonly string[], string>()
  try {
    for (const version of versions) {
      const node = nodes(version)
      const packages = packagesFor(version)
      if (node === undefined) {
        outcomes.skip(`tests of applications under Node ${version}`, 'it cannot be installed here')
        continue
      }
      const home =
        installed.get(packages) ??
        (await outcomes.try(`an application with ${packages.join(', ')} is installed`, () =>
          install(join(folder, `application-${version}`), [file, ...packages]),
        ))
      if (home === undefined) continue
      installed.set(packages, home)
      for (const runner of RUNNERS)
        await outcomes.try(
          `${runner.name} records, replays offline and fails for a changed prompt under Node ${version}`,
          () => application({ home, runner, env: { ...envWith(folder, node), ...runner.env }, url: mock.url, way }),
        )
    }
  } finally {
    await mock.close()
  }
}

/** Installs packages with the machine's npm and its settings. */
async function install(home: string, packages: readonly string[]): Promise<string> {
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{"private":true,"type":"module"}')
  const words = ['install', '--no-audit', '--no-fund', ...packages]
  const { code, out } = await run('npm', words, { cwd: home, env: process.env })
  assert.equal(code, 0, out)
  return home
}

interface Ran {
  readonly code: number
  /** Both outputs of the command. */
  readonly out: string
}

/** Runs a command while this process serves the provider. Ends it after five minutes. */
const run = (file: string, words: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Ran> =>
  new Promise(resolve => {
    execFile(file, words, { ...options, timeout: 300_000, maxBuffer: 2 ** 26 }, (fault, stdout, stderr) => {
      resolve({ code: fault === null ? 0 : Number(fault.code ?? 1), out: stdout + stderr })
    }).stdin!.end()
  })

interface Application {
  /** Folder with the installed packages. */
  readonly home: string
  readonly runner: Runner
  readonly env: NodeJS.ProcessEnv
  /** Address of the provider. */
  readonly url: string
  /** Way to cut a replay off from the network. */
  readonly way: readonly string[] | undefined
}

async function application({ home, runner, env, url, way }: Application): Promise<void> {
  const { name, file, command, passed } = runner
  const cwd = join(home, name)
  rmSync(cwd, { recursive: true, force: true })
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'package.json'), '{"private":true,"type":"module"}')
  const documented = documentedTest(file)
  const tested = async (text: string, [program, ...words]: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    writeFileSync(join(cwd, file), text)
    return (await run(program!, words, { cwd, env: { ...env, NO_COLOR: '1', ...more } })).out
  }
  const keys = { OPENAI_API_KEY: SECRET, ANTHROPIC_API_KEY: SECRET }
  assert.match(await tested(withUpstream(documented, url), command, { INTERLINGUA_RECORD: '1', ...keys }), passed)
  const recordings = join(cwd, 'test/recordings')
  const [recording, ...others] = readdirSync(recordings)
  assert.deepEqual(others, [])
  assert.ok(!readFileSync(join(recordings, recording!), 'utf8').includes(SECRET))
  const offline = way === undefined ? command : ['unshare', ...within(way, command)]
  assert.match(await tested(documented, offline), passed)
  const failed = await tested(withOtherPrompt(documented), offline)
  assert.doesNotMatch(failed, passed)
  assert.match(
    failed,
    /- messages\.0\.content\.0\.text: "Say hello\."\n.*\+ messages\.0\.content\.0\.text: "Say goodbye\."/,
  )
}
