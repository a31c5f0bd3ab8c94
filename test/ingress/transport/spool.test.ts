import { readdirSync, readlinkSync, rmSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Spool } from '../../../src/ingress/transport/spool.ts'
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

describe('a spooled file', () => {
  const bytes = Buffer.alloc(900_000, 'abc')
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000)
  }
  const whole = async (read: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(read)).equals(bytes)

  test('is whole for every reader, although others stop at any moment', async () => {
    const spool = await Spool.open()
    const file = await spool.fill([], chunks())
    for (let stop = 0; stop < 4; stop++) {
      let count = 0
      for await (const _ of file.read()) if (count++ === stop) break
      const failed = file.read()[Symbol.asyncIterator]()
      await failed.next()
      await failed.return?.()
      expect(await whole(file.read())).toBe(true)
    }
    expect(await Promise.all([whole(file.read()), whole(file.read())])).toEqual([true, true])
    spool.close()
  })

  test.runIf(process.platform === 'linux')(
    'that is closed is read to the end by those who began, and then closed',
    async () => {
      const handles = () => readdirSync('/proc/self/fd').length
      const before = handles()
      const spool = await Spool.open()
      const file = await spool.fill([], chunks())
      const reading = file.read()[Symbol.asyncIterator]()
      const parts = [(await reading.next()).value!]
      spool.close()
      spool.close()
      for (let step = await reading.next(); step.done !== true; step = await reading.next()) parts.push(step.value)
      expect(Buffer.concat(parts).equals(bytes)).toBe(true)
      await until(() => handles() <= before)
      await expect(whole(file.read())).rejects.toThrow()
    },
  )
})
