import assert from 'node:assert/strict'
import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { until } from '../../builders/time.ts'
import { envWith, nodesOf } from '../node-versions.ts'
import type { Outcomes } from '../outcomes.ts'
import { testsOfApplications } from './package-tests.ts'

/** Versions of Node that the library supports, and those of them that also run the gateway. */
const LIBRARY = ['20', '22', '24', '26']
const GATEWAY = ['22', '24', '26']

/** Files of the package: what is in it, and what must not be. */
const PRESENT = [
  ...['LICENSE', 'README.md', 'CHANGELOG.md', 'docs/library.md', 'bin/interlingua.js', 'lib/server/main.cjs'],
  ...['lib/modules/kit/library/index.js', 'lib/modules/kit/library/index.d.ts', 'console/dist/index.html'],
  ...['lib/modules/kit/testing/index.js', 'lib/modules/kit/testing/index.d.ts'],
  ...[
    'catalogue/models.json',
    'catalogue/prices.json',
    'fixtures/demo/chat/hello.json',
    'fixtures/examples.json',
    'interlingua.example.yaml',
  ],
]
/** Everything else in the package is in one of these folders, or one of these files. */
const PLACES =
  /^(?:(?:bin|lib\/server|lib\/modules|console\/dist|catalogue|conformance|fixtures\/demo)\/|fixtures\/examples\.json$|docs\/(?:library|record-replay|testing)\.md$|[^/]+$)/
const ABSENT = /^(?:src|test|bench|building|console\/src|dist|\.ci)\/|\.test\.|\.to-[a-z]+\.|\.env|node_modules|\.map$/
/** Maximum size of the package, in bytes. */
const MAX_SIZE = 3_600_000

const PROGRAM = `
import { chat, foldStream, messages, readStream, translate } from 'interlingua'
const request = { model: 'claude-opus-4-5', seed: 7, messages: [{ role: 'user', content: 'Hello' }] }
const translation = translate(request, { from: chat, to: messages })
const stream = new Response('data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\\n\\ndata: [DONE]\\n\\n')
const { candidates } = await foldStream(stream.body.pipeThrough(readStream(chat)))
console.log(translation.path, translation.losses[0].reason, candidates[0].content[0].text)
`

const TYPED = `
import { chat, messages, translate, type Translation } from 'interlingua'
export const one: Translation = translate({ model: 'm', messages: [] }, { from: chat, to: messages })
// @ts-expect-error: a codec is no text
translate({}, { from: 'chat', to: messages })
import { replay, replayEachTest, type TestReplay } from 'interlingua/testing'
export const two: TestReplay = await replay('recordings', { strict: true })
export const [three]: readonly string[] = two.misses
// @ts-expect-error: hooks are functions
replayEachTest('recordings', { beforeEach: 1 })
`

/** `npm run package`, installed in an empty folder: the library, its types and the gateway under each Node. */
export async function packageOfNpm(outcomes: Outcomes, checkout: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-package-'))
  const run = (words: readonly string[], cwd = folder, node?: string): SpawnSyncReturns<string> =>
    spawnSync(words[0]!, words.slice(1), { cwd, encoding: 'utf8', env: envWith(folder, node), maxBuffer: 2 ** 26 })
  const done = (words: readonly string[], cwd?: string, node?: string): string => {
    const { status, stdout, stderr } = run(words, cwd, node)
    assert.equal(status, 0, `${words.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  try {
    const before = readFileSync(join(checkout, 'package.json'), 'utf8')
    const file = await outcomes.try('npm run package makes the package and leaves package.json as it was', () => {
      const name = done(['npm', 'run', '--silent', 'package', '--', folder], checkout).trim().split('\n').at(-1)!
      assert.equal(readFileSync(join(checkout, 'package.json'), 'utf8'), before)
      return join(folder, name)
    })
    if (file === undefined) return
    await outcomes.try('it contains what it should and nothing else', () => contents(file))
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    writeFileSync(join(empty, 'package.json'), '{"private":true,"type":"module"}')
    await outcomes.try('it is installed in an empty folder, without a Node of its own', () => {
      done(['npm', 'install', '--no-audit', '--no-fund', file], empty)
      assert.equal(run(['ls', 'node_modules/.bin/node'], empty).status, 2)
    })
    writeFileSync(join(empty, 'use.js'), PROGRAM)
    writeFileSync(join(empty, 'typed.ts'), TYPED)
    await outcomes.try('its types are complete without those of Node', () => {
      const compiler = join(checkout, 'node_modules/typescript/bin/tsc')
      const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', '', 'typed.ts']
      done([process.execPath, compiler, '--lib', 'es2024,dom', ...flags], empty)
    })
    const nodes = nodesOf(folder)
    for (const version of LIBRARY) {
      const node = nodes(version)
      if (node === undefined) outcomes.skip(`Node ${version}`, 'it cannot be installed here')
      else
        await outcomes.try(`the library runs under Node ${version}`, () =>
          assert.equal(done(['node', 'use.js'], empty, node), '/v1/messages no-seed Hi\n'),
        )
    }
    await testsOfApplications(outcomes, { folder, file, versions: LIBRARY, nodes })
    for (const version of GATEWAY) {
      const node = nodes(version)
      if (node === undefined) outcomes.skip(`the gateway under Node ${version}`, 'it cannot be installed here')
      else
        await outcomes.try(`npx interlingua runs gateway and console under Node ${version}`, () => gateway(empty, node))
    }
    const old = nodes('20')
    if (old !== undefined)
      await outcomes.try('the gateway says under Node 20 which Node it needs', () => {
        const { status, stderr } = run(['npx', 'interlingua', '--version'], empty, old)
        assert.equal(status, 1)
        assert.match(stderr, /needs Node 22\.18 or later.*\n.*npm install node@26/)
      })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function contents(file: string): void {
  const listed = execFileSync('tar', ['-tzf', file], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const paths = listed
    .trim()
    .split('\n')
    .map(path => path.replace(/^package\//, ''))
  assert.deepEqual(
    PRESENT.filter(path => !paths.includes(path)),
    [],
  )
  assert.deepEqual(
    paths.filter(path => ABSENT.test(path) || !PLACES.test(path)),
    [],
  )
  const size = readFileSync(file).length
  assert.ok(size <= MAX_SIZE, `${size} bytes`)
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' }))
  assert.equal(manifest.private, true)
  assert.equal(manifest.publishConfig.provenance, true)
  assert.match(manifest.repository.url, /^git\+https:/)
  assert.deepEqual(
    [manifest.scripts, manifest.devDependencies, manifest.optionalDependencies],
    [undefined, undefined, undefined],
  )
}

const KEY = 'il-package'

/** Starts the gateway from the package, asks it for an answer and for the console's page, and stops it. */
async function gateway(folder: string, node: string): Promise<void> {
  const config = { server: { port: 0 }, keys: [{ name: 'dev', key: KEY }], groups: { default: { models: ['*'] } } }
  const path = join(folder, 'interlingua.json')
  writeFileSync(
    path,
    JSON.stringify({ data_dir: join(folder, 'data'), channels: [{ name: 'demo', provider: 'replay' }], ...config }),
  )
  const child = spawn('npx', ['interlingua', '--config', path], {
    cwd: folder,
    env: envWith(dirname(folder), node),
    detached: true,
  })
  let out = ''
  child.stdout.on('data', piece => (out += piece))
  child.stderr.on('data', piece => (out += piece))
  try {
    await until(() => /listens on (\S+)/.test(out) || child.exitCode !== null, 60_000)
    const [, address] = /listens on (\S+)/.exec(out) ?? []
    assert.ok(address !== undefined, out)
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'replay', messages: [{ role: 'user', content: 'Say hello.' }] })
    const answer = await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body })
    assert.equal(answer.status, 200)
    assert.match(await (await fetch(`${address}/console/`)).text(), /<html/)
  } finally {
    process.kill(-child.pid!, 'SIGTERM')
    await until(() => child.exitCode !== null || child.signalCode !== null, 60_000)
  }
}
