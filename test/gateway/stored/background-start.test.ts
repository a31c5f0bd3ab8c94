import { expect, test } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { Background } from '../../../src/gateway/stored/background.ts'
import type { Copies } from '../../../src/gateway/stored/copies.ts'
import type { ResponseSaver } from '../../../src/gateway/stored/response-saver.ts'
import { RESPONSES } from '../../../src/gateway/stored/responses-format.ts'
import type { StoredFormat } from '../../../src/gateway/stored/stored-format.ts'
import type { StoreView } from '../../../src/store/lazy-store.ts'

test('a start that fails holds no slot of the key', async () => {
  let taken = 0
  const background = new Background({} as Copies, async () => {
    taken++
    return () => void taken--
  })
  const broken = {
    get model(): string {
      throw new Error('The request cannot be written.')
    },
  } as unknown as CanonicalRequest
  const store = { liveness: { open: async () => {}, id: 'a' }, turns: {} } as unknown as StoreView
  const saver = { owner: 'o', id: 'resp_1', format: RESPONSES as StoredFormat } as ResponseSaver
  await expect(background.start(broken, saver, store, 1)).rejects.toThrow('cannot be written')
  expect(taken).toBe(0)
})
