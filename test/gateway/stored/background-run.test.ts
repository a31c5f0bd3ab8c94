import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Background } from '../../../src/gateway/stored/background.ts'
import { BackgroundReply } from '../../../src/gateway/stored/background-reply.ts'
import { BackgroundRun } from '../../../src/gateway/stored/background-run.ts'
import type { Copies } from '../../../src/gateway/stored/copies.ts'
import { ResponseSaver } from '../../../src/gateway/stored/response-saver.ts'
import { ResponsesApi } from '../../../src/gateway/stored/responses-api.ts'
import { RESPONSES } from '../../../src/gateway/stored/responses-format.ts'
import { UNAVAILABLE } from '../../../src/store/fault.ts'
import type { StoreView } from '../../../src/store/lazy-store.ts'
import { openSqlite } from '../../../src/store/store.ts'
import { REQUEST } from '../../builders/requests.ts'
import { failing } from '../../models/failing.ts'

const SILENT = { info() {}, warn() {}, error() {} }

/** A run over a store, or over the parts of one that the test needs. */
function runOver(store: object, conversation?: string) {
  const { turns } = store as StoreView
  const removed: string[] = []
  const copies = { remove: async ({ id }: { readonly id: string }) => void removed.push(id) } as unknown as Copies
  const saver = new ResponseSaver(
    { format: RESPONSES, owner: 'me', input: [{ id: 'in' }], previous: undefined, conversation, request: REQUEST },
    { turns: [turns], store: store as StoreView, lifetime: 60_000, log: SILENT },
  )
  const reply = new BackgroundReply(RESPONSES, saver.id, REQUEST)
  reply.abortable = { abort() {} }
  return { run: new BackgroundRun(reply, { saver, turns, copies, worker: 'w', releaseSlot() {} }), saver, removed }
}

const frame = (type: string, fields: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields, sequence_number: 0 })}\n\n`

test('events that could not be deleted while the store failed are deleted before the end is stored', async () => {
  const done: string[] = []
  let isDown = false
  const method = (name: string) => async () => {
    if (isDown) throw UNAVAILABLE
    done.push(name)
    return true
  }
  const turns = { put: method('put'), advance: method('advance') }
  const { run } = runOver({ turns, events: { add: method('add'), drop: method('drop') } })
  await run.begin()
  isDown = true
  run.reply.write(frame('response.output_text.delta', { delta: 'x'.repeat(1_200_000) }))
  await run.save()
  isDown = false
  await run.finish()
  expect(done).toEqual(['put', 'drop', 'advance'])
})

test('an end that another process stored is read again if the store fails, and no copy is deleted', async () => {
  let reads = 0
  const turns = {
    advance: async () => false,
    async find() {
      if (++reads === 1) throw UNAVAILABLE
      return { response: { status: 'failed', output: [] } }
    },
  }
  const { run, saver, removed } = runOver({ turns, events: {} })
  saver.copy = { channel: 'c', id: 'copy', format: RESPONSES, background: false }
  await run.finish()
  expect(run.response).toMatchObject({ status: 'failed' })
  expect(removed).toEqual([])
})

test('a conversation has the items of a response that was stored at the second attempt', async () => {
  const store = await openSqlite(':memory:')
  const now = Date.now()
  await store.conversations.create({ owner: 'me', id: 'c', metadata: {}, createdAt: now, expiresAt: now + 60_000 }, [])
  let failures = 1
  const fails = () => (failures-- > 0 ? ('before' as const) : undefined)
  const view = {
    ...{ turns: store.turns, events: store.events },
    conversations: failing(store.conversations, fails, () => UNAVAILABLE),
  }
  const { run } = runOver(view, 'c')
  await run.begin()
  const response = { status: 'completed', output: [{ id: 'out', type: 'message' }] }
  run.reply.write(frame('response.completed', { response }))
  await run.finish()
  expect(await store.conversations.items('me', 'c')).toMatchObject([{ id: 'in' }, { id: 'out' }])
  await store.close()
})

test('a response that another process deleted is unknown as soon as that is noticed', async () => {
  const store = await openSqlite(':memory:')
  const { run, saver } = runOver(store)
  await run.begin()
  const background = { find: () => run } as unknown as Background
  const api = new ResponsesApi(RESPONSES, store as unknown as StoreView, background, run.context.copies)
  expect(await api.response('me', saver.id)).toMatchObject({ status: 'in_progress' })
  await store.turns.drop('me', saver.id)
  await run.save()
  await expect(api.response('me', saver.id)).rejects.toThrow('not found')
  await run.finish()
  await store.close()
})
