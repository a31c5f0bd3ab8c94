import assert from 'node:assert/strict'
import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../builders/time.ts'
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
    if (built !== undefined) await container(outcomes, built, join(folder, 'volume'))
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
