import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Store } from '../../../src/store/store.ts'
import type { StoredTask } from '../../../src/store/tasks.ts'
import type { Turn } from '../../../src/store/turns.ts'
import { DAY } from '../../builders/units.ts'
import { traffic } from '../../builders/usage.ts'
import { administration } from './administration.ts'
import { AT, EXPIRES, type Operation, together, type Visible } from './operation.ts'

const OWNER = 'me'
const CONVERSATION = 'conv'
const itemOf = (id: string): JsonObject => ({ type: 'message', id, text: 'x'.repeat(200) })

const turnOf = (id: string, more: Partial<Turn> = {}): Turn => ({
  ...{ owner: OWNER, id, response: { status: 'completed', output: [itemOf(`${id}-out`)] } },
  ...{ input: [itemOf(`${id}-in`)], createdAt: AT, expiresAt: EXPIRES, ...more },
})

const eventsOf = (id: string, first: number) => ({ first, texts: [`${id} ${first}`, `${id} ${first + 1}`] })

async function idsIn(store: Store, conversation: string): Promise<readonly unknown[]> {
  return ((await store.conversations.items(OWNER, conversation)) ?? []).map(({ id }) => id)
}

const conversation: Operation = {
  name: 'a conversation',
  run: store =>
    store.conversations.create({ owner: OWNER, id: CONVERSATION, metadata: {}, createdAt: AT, expiresAt: EXPIRES }, [
      itemOf('first'),
      itemOf('second'),
    ]),
  async visible(store) {
    const [found, ids] = [await store.conversations.find(OWNER, CONVERSATION), await idsIn(store, CONVERSATION)]
    return together({ row: found !== undefined, first: ids.includes('first'), second: ids.includes('second') })
  },
}

/** A stored response, which may be deleted later. */
const response = (id: string): Operation => ({
  name: `response ${id}`,
  run: store => store.turns.put(turnOf(id)),
  async visible(store) {
    const found = await store.turns.find(OWNER, id)
    if (await store.turns.isForbidden(OWNER, [id])) return 'all'
    const items = await store.turns.items(OWNER, [`${id}-in`, `${id}-out`])
    return together({ turn: found !== undefined, input: items.has(`${id}-in`), output: items.has(`${id}-out`) })
  },
})

const deletion = (id: string): Operation => ({
  name: `deletion of response ${id}`,
  run: store => store.turns.drop(OWNER, id),
  async visible(store) {
    const items = await store.turns.items(OWNER, [`${id}-in`, `${id}-out`])
    if (items.size === 0 && (await store.turns.find(OWNER, id)) === undefined)
      return (await store.turns.isForbidden(OWNER, [id])) ? 'all' : 'nothing'
    return items.size === 2 ? 'nothing' : { half: [...items.keys()] }
  },
})

const background = (id: string): Operation => ({
  name: `start of response ${id}`,
  run: store =>
    store.turns.put(
      turnOf(id, { response: { status: 'queued', output: [] }, lease: EXPIRES, worker: 'w' }),
      eventsOf(id, 0),
    ),
  async visible(store) {
    const [found, count] = [await store.turns.find(OWNER, id), await store.events.count(OWNER, id)]
    return together({ turn: found !== undefined, events: count >= 2 })
  },
})

const end = (id: string): Operation => ({
  name: `end of response ${id}`,
  run: store =>
    store.turns.advance(turnOf(id), eventsOf(id, 2), { conversation: CONVERSATION, items: [itemOf(`${id}-added`)] }),
  async visible(store) {
    const found = await store.turns.find(OWNER, id)
    return together({
      status: found?.response['status'] === 'completed' && found.lease === undefined,
      output: (await store.turns.items(OWNER, [`${id}-out`])).size === 1,
      events: (await store.events.count(OWNER, id)) === 4,
      conversation: (await idsIn(store, CONVERSATION)).includes(`${id}-added`),
    })
  },
})

/** Rows of requests, whose sums by day and whose spend appear with them. */
function usage(batch: number): Operation {
  const key = `key-of-${batch}`
  const span = { since: AT, until: AT + 60_000, keys: 1, models: 2, channels: 1 }
  const rows = [...traffic(20, span, batch)].map(row => ({ ...row, key }))
  const cost = rows.reduce((sum, row) => sum + (row.cost ?? 0), 0)
  return {
    name: `usage ${batch}`,
    run: store => store.usage.add(rows),
    async visible(store) {
      const filter = { since: AT - DAY, until: AT + DAY, where: { key }, limit: 100 }
      const [sum] = await store.usage.sums({ ...filter, by: [], every: 'day' })
      return together({
        rows: (await store.usage.rows(filter)).rows.length === 20,
        requests: sum?.requests === 20,
        cost: sum?.cost === cost,
        spent: (await store.usage.spent(key, AT)).month === cost,
      })
    },
  }
}

function captures(number: number): Operation {
  const ids = [`capture ${number}.0`, `capture ${number}.1`]
  return {
    name: `captures ${number}`,
    run: store =>
      store.captures.add(
        ids.map(id => ({ id, at: AT, expiresAt: EXPIRES, data: Buffer.alloc(500, number) })),
        1e9,
      ),
    async visible(store) {
      const there = await store.captures.existing(ids)
      return together(Object.fromEntries(ids.map(id => [id, there.has(id)])))
    },
  }
}

function taskOf(id: string): StoredTask {
  return {
    ...{ owner: OWNER, id, model: 'm', channel: 'c', format: 'videos', upstreamModel: 'm', state: 'submitting' },
    ...{ from: 'text', output: { modalities: ['video'] }, result: { candidates: [] }, worker: 'w', misses: 0 },
    ...{ createdAt: AT, polledAt: AT, expiresAt: EXPIRES },
  }
}

const task = (id: string): readonly Operation[] => [
  {
    name: `task ${id}`,
    run: store => store.tasks.begin(taskOf(id)),
    visible: async store => together({ task: (await store.tasks.find(OWNER, id)) !== undefined }),
  },
  {
    name: `acceptance of task ${id}`,
    run: store =>
      store.tasks.advance(OWNER, id, { state: 'queued', result: { candidates: [] }, upstreamId: `upstream ${id}` }),
    async visible(store) {
      const found = await store.tasks.find(OWNER, id)
      return together({ state: found?.state === 'queued', id: found?.upstreamId !== undefined })
    },
  },
]

/** Operations of all kinds, in the order in which one process does them, each after the one before is acknowledged. */
export const workload = (rounds: number): readonly Operation[] => [
  conversation,
  ...Array.from({ length: rounds }, (_, round) => [
    response(`kept ${round}`),
    background(`later ${round}`),
    usage(round),
    ...administration(round),
    response(`gone ${round}`),
    captures(round),
    end(`later ${round}`),
    ...task(`video ${round}`),
    deletion(`gone ${round}`),
  ]).flat(),
]

/** Returns what a store shows of each operation. */
export const seen = async (store: Store, operations: readonly Operation[]): Promise<readonly Visible[]> => {
  const all: Visible[] = []
  for (const operation of operations) all.push(await operation.visible(store))
  return all
}
