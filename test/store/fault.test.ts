import { expect, test } from 'vitest'
import { storeFault } from '../../src/store/fault.ts'

const sqliteError = (errcode: number): Error => Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode })

test.each([
  ['locks that a file system refuses for ten seconds (SQLITE_PROTOCOL)', 15, 'failing'],
  ['a file that outgrew its file system (SQLITE_NOLFS)', 22, 'full'],
  ['an extended code', 10 | (6 << 8), 'failing'],
] as const)('%s are a fault of the store, not a bug of the gateway', (_, errcode, kind) => {
  expect(storeFault(sqliteError(errcode))).toBe(kind)
})

test('a violated constraint is a bug of the gateway', () => {
  expect(storeFault(sqliteError(19))).toBeUndefined()
})
