import assert from 'node:assert/strict'
import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../src/kit/conformance/free-port.ts'
import { pause, until } from '../../builders/time.ts'
import { buildImage, type Image, userOf } from '../image/build.ts'
import { beside, entering, noTrees } from '../image/tree.ts'
import type { Outcomes } from '../outcomes.ts'

/**
 * The steps of the Dockerfile, carried out without a container engine, and a container of the last stage: no root,
 * nothing writable but the volume, a network of its own.
 */
export async function image(outcomes: Outcomes, checkout: string): Promise<void> {
  const reason = noTrees()
  if (reason !== undefined) return outcomes.skip('the steps of the Dockerfile', reason)
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-image-'))
  try {
    const context = contextOf(checkout, join(folder, 'context'))
    const node = join(checkout, 'node_modules/.bin/node')
    const built = await outcomes.try('every step of the Dockerfile runs', () =>
      buildImage(join(checkout, 'Dockerfile'), { context, folder: join(folder, 'stages'), node }),
    )
    if (built === undefined) return
    await container(outcomes, built, join(folder, 'volume'))
    await startTimes(outcomes, built, join(folder, 'other-volume'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns a folder with the committed files, without those that .dockerignore names. */
function contextOf(checkout: string, folder: string): string {
  mkdirSync(folder)
  execFileSync('sh', ['-c', 'git -C "$0" archive HEAD | tar -x -C "$1"', checkout, folder])
  const ignored = readFileSync(join(checkout, '.dockerignore'), 'utf8').trim().split('\n')
  for (const pattern of ignored) execFileSync('sh', ['-c', `cd "$0" && rm -rf ${pattern}`, folder])
  return folder
}

async function container(outcomes: Outcomes, { tree, volumes, ...built }: Image, volume: string): Promise<void> {
  const user = userOf({ tree, volumes, ...built })
  const [mountPoint = ''] = volumes
  await outcomes.try('it has no shell, and nothing belongs to its user but the volume', () => {
    for (const shell of ['bin/sh', 'bin/bash', 'usr/bin/env']) assert.ok(!existsSync(join(tree.folder, shell)), shell)
    const [id = ''] = user.split(':')
    assert.notEqual(id, '0')
    const owned = execFileSync('find', [tree.folder, '-user', id], { encoding: 'utf8' }).trim().split('\n')
    assert.deepEqual(owned, [join(tree.folder, mountPoint)])
  })
  await outcomes.try('its packages are the same on every architecture', () => {
    const binaries = execFileSync('find', [join(tree.folder, 'app'), '-name', '*.node'], { encoding: 'utf8' })
    assert.equal(binaries, '')
  })
  // A new volume has the files and the owner of its folder in the image.
  execFileSync('cp', ['-a', join(tree.folder, mountPoint), volume])
  const running = { folder: tree.folder, mounts: [{ from: volume, to: mountPoint }] }
  const env = { ...built.env, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/home/nonroot' }
  const place = { user, workdir: built.workdir }
  const [program, ...words] = entering(running, [...built.entrypoint, ...built.command], {
    ...{ ...place, isReadOnly: true, isAlone: true },
  })
  const child = spawn(program!, words, { env })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (out += piece))
  const ended = once(child, 'exit')
  /** Runs a program in the container. */
  const inside = (command: readonly string[]): SpawnSyncReturns<string> => {
    const [enter, ...rest] = beside(child.pid!, command, place)
    return spawnSync(enter!, rest, { env, encoding: 'utf8' })
  }
  const statusOf = (path: string): string =>
    inside([
      built.health[0]!,
      '-e',
      `fetch('http://127.0.0.1:4747${path}').then(a => console.log(a.status))`,
    ]).stdout.trim()
  try {
    const isUp = await outcomes.try('it starts, and its health check passes', async () => {
      await until(() => out.includes('listens on') || child.exitCode !== null)
      assert.equal(child.exitCode, null, out)
      await until(() => inside(built.health).status === 0)
      assert.ok(!/warning|cannot/.test(out), out)
      return true
    })
    if (isUp === undefined) return
    await outcomes.try('it starts from the compiled code in the image', () => {
      const [enter, ...rest] = beside(child.pid!, [...built.entrypoint, '--version'], place)
      const traced = spawnSync(enter!, rest, { env: { ...env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }, encoding: 'utf8' })
      assert.match(traced.stdout + traced.stderr, /server\/main\.cjs was accepted/)
    })
    await outcomes.try('it has no rights', () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      assert.match(status, new RegExp(`^Uid:\\t${user.split(':')[0]}\\t`, 'm'))
      assert.match(status, /^CapEff:\t0+$/m)
      assert.notEqual(inside([built.health[0]!, '-e', `require('fs').writeFileSync('/tmp/x', '')`]).status, 0)
    })
    await outcomes.try('its commands use the same volume', () => {
      const made = inside([...built.entrypoint, 'keys', 'create', 'bob'])
      assert.equal(made.status, 0, made.stderr)
      assert.match(made.stdout, /^il-\S+$/m)
    })
    await outcomes.try('after SIGTERM it is healthy but not ready, then it ends by itself', async () => {
      assert.deepEqual([statusOf('/readyz'), statusOf('/healthz')], ['200', '200'])
      child.kill('SIGTERM')
      await until(() => statusOf('/readyz') === '503')
      assert.equal(statusOf('/healthz'), '200')
      assert.deepEqual(await ended, [0, null], out)
    })
  } finally {
    if (child.exitCode === null) child.kill('SIGKILL')
  }
}

/** Number of starts whose times are measured, and the longest median, in milliseconds, that a busy machine may need. */
const [STARTS, SLOWEST] = [5, 1500]
const KEY = 'il-first-start-0123456789abcdef01234567'

/** Measures the time from a container's start to its first answer to a chat completion of the built-in provider. */
async function startTimes(outcomes: Outcomes, built: Image, volume: string): Promise<void> {
  const [mountPoint = ''] = built.volumes
  const user = userOf(built)
  execFileSync('cp', ['-a', join(built.tree.folder, mountPoint), volume])
  const config = {
    groups: { default: { models: ['*'] } },
    keys: [{ name: 'first', key: KEY }],
    channels: [{ name: 'replay', provider: 'replay', models: ['*'] }],
  }
  writeFileSync(join(volume, 'interlingua.yaml'), JSON.stringify(config))
  const running = { folder: built.tree.folder, mounts: [{ from: volume, to: mountPoint }] }
  const env = { ...built.env, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/home/nonroot' }
  const times: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const port = await freePort()
    const command = [...built.entrypoint, 'serve', '--host', '127.0.0.1', '--port', `${port}`]
    const [program, ...words] = entering(running, command, { user, workdir: built.workdir, isReadOnly: true })
    const began = performance.now()
    const child = spawn(program!, words, { env, stdio: 'ignore' })
    const ended = once(child, 'exit')
    while (!(await isAnswered(port)) && child.exitCode === null) await pause(2)
    times.push(performance.now() - began)
    child.kill('SIGINT')
    await ended
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)]!
  await outcomes.try(`the first answer comes ${Math.round(median)} ms after the start (median of ${STARTS})`, () =>
    assert.ok(median < SLOWEST),
  )
}

async function isAnswered(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'replay', messages: [{ role: 'user', content: 'Say hello.' }] }),
  }).catch(() => undefined)
  await answer?.arrayBuffer()
  return answer?.ok === true
}
