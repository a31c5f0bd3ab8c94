import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOf } from '../agents/install.ts'
import { findNamespace } from '../agents/namespace.ts'
import { KINDS } from './upstreams/index.ts'

/* OpenAI's Python library, unmodified, in an isolated network. */

/** The interpreter installed by `npm run agents`, or another one with the library. */
const PYTHON = process.env['VIDEO_PYTHON'] ?? join(folderOf('python'), 'bin/python')
const way = findNamespace()
const missing = existsSync(PYTHON)
  ? way === undefined && 'no network namespace can be made here (unshare, ip)'
  : `${PYTHON} is not there: \`npm run agents\` installs it`
if (missing !== false) console.warn(`VIDEOS IN PYTHON NOT RUN: ${missing}`)

test.skipIf(missing !== false).each(KINDS)(
  'a task before %s: created, polled, downloaded, remixed where it can be, deleted',
  kind => {
    const inside = [process.execPath, join(import.meta.dirname, 'python-inside.ts'), kind, PYTHON]
    const args = [...way!, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...inside]
    const { stdout, stderr, status } = spawnSync('unshare', args, { encoding: 'utf8', timeout: 100_000 })
    expect([status, stderr]).toEqual([0, expect.any(String)])
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({
      // Veo reports no queue.
      made: kind === 'veo' ? 'in_progress' : 'queued',
      done: 'completed',
      bytes: 4096,
      part: 100,
      listed: true,
      remix: kind === 'videos' ? 'completed' : 400,
      failed: 'failed',
      deleted: true,
      gone: 404,
      submits: kind === 'videos' ? [2, 1] : [2, 0],
    })
  },
  300_000,
)
