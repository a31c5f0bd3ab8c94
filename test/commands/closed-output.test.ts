import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ENV, MAIN } from '../builders/paths.ts'

test('a reader that ends before the output does not fail the command', () => {
  // Without pipefail, the status would be that of the reader. The schema is larger than a pipe holds.
  const script = 'set -o pipefail; "$NODE" "$MAIN" check --schema | head -c 1'
  const env = { ...process.env, ...ENV, NODE: process.execPath, MAIN }
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { env, encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '{', stderr: '' })
})
