import { readdirSync, readlinkSync, rmSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { until } from '../../builders/time.ts'

const isOpen = (path: string): boolean =>
  readdirSync('/proc/self/fd').some(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  })

afterEach(() => {
  vi.doUnmock('node:fs/promises')
  vi.resetModules()
})

test.runIf(process.platform === 'linux')('a file that cannot be unlinked is closed', async () => {
  const paths: string[] = []
  vi.resetModules()
  vi.doMock('node:fs/promises', async original => ({
    ...(await original<typeof import('node:fs/promises')>()),
    unlink: async (path: string) => {
      paths.push(path)
      throw Object.assign(new Error('read-only'), { code: 'EROFS' })
    },
  }))
  const { Spool } = await import('../../../src/ingress/transport/spool.ts')
  await expect(Spool.open()).rejects.toThrow('read-only')
  expect(paths).toHaveLength(1)
  try {
    await until(() => !isOpen(paths[0]!))
  } finally {
    rmSync(paths[0]!, { force: true })
  }
})
