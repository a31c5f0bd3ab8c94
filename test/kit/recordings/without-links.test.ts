import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'

vi.mock('node:fs/promises', async original => ({
  ...(await original<typeof import('node:fs/promises')>()),
  link: async () => {
    throw Object.assign(new Error('operation not permitted, link'), { code: 'EPERM' })
  },
}))

const folder = mkdtempSync(join(tmpdir(), 'without-links-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a file system without hard links, such as exFAT, takes recordings, also of several recorders', async () => {
  const warn = (message: string) => expect.fail(message)
  const recorders = [1, 2].map(() => new Recorder({ folder, warn }))
  const answer = { status: 200, headers: {}, ms: 1, isComplete: true, chunks: [{ ms: 1, bytes: Buffer.from('a') }] }
  for (let count = 0; count < 5; count++)
    for (const recorder of recorders)
      recorder.exchange({ method: 'GET', url: '/same', headers: {}, body: Buffer.alloc(0) }, answer, new Date())
  await Promise.all(recorders.map(recorder => recorder.close()))
  expect(readFolder(folder)).toHaveLength(10)
  expect(readdirSync(folder).filter(name => !name.endsWith('.json'))).toEqual([])
})
