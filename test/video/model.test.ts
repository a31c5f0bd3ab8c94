import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { KEY, keyOf, OTHER_KEY } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { pause, TIMED } from '../builders/time.ts'
import { PUBLIC, VideoStage } from './stage.ts'
import { type Fault, KINDS, type Kind, type Outcome } from './upstreams/index.ts'

/*
 * A model of video tasks: two keys order, poll, download, list, remix and delete videos in any order and at two
 * gateways of one store, of which one restarts at times, while their upstream fails, breaks off and finishes. Whatever
 * happens, a task belongs to its key, moves only forward, is submitted once and shows nothing of its upstream.
 */

let stage: VideoStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

const FAULTS: readonly (Fault | undefined)[] = [
  ...[undefined, undefined, undefined, undefined, 'break', 'break-after', 'break-half', 'garbage'],
  ...([{ refuse: 400 }, { refuse: 429 }, { refuse: 500 }] as const),
] as readonly (Fault | undefined)[]

type Op =
  | {
      readonly do: 'create'
      readonly key: number
      readonly idem: string | undefined
      readonly fault: Fault | undefined
    }
  | {
      readonly do: 'poll' | 'content' | 'head' | 'range' | 'remove' | 'remix'
      readonly key: number
      readonly at: number
    }
  | { readonly do: 'list'; readonly key: number; readonly limit: number; readonly order: string }
  | { readonly do: 'outage'; readonly fault: Fault | undefined }
  | { readonly do: 'finish'; readonly at: number; readonly outcome: Outcome }
  | { readonly do: 'wait' }
  | { readonly do: 'restart' }

const key = fc.nat({ max: 1 })
const at = fc.nat({ max: 5 })
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ do: fc.constant('create' as const), key },
      idem: fc.constantFrom(undefined, undefined, 'k1', 'k2'),
      fault: fc.constantFrom(...FAULTS),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom(...(['poll', 'poll', 'content', 'head', 'range', 'remove', 'remix'] as const)),
      ...{ key, at },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ do: fc.constant('list' as const), key },
      limit: fc.constantFrom(1, 2, 100),
      order: fc.constantFrom('asc', 'desc'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('outage' as const), fault: fc.constantFrom(undefined, ...FAULTS) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ do: fc.constant('finish' as const), at },
      outcome: fc.constantFrom<Outcome>('completed', 'completed', 'review', 'broken', 'silent'),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'wait' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
)

/** A task as its caller knows it. */
interface Known {
  readonly id: string
  readonly key: number
  state: string
  isRemoved: boolean
}

const ORDER: readonly string[] = ['queued', 'in_progress', 'completed', 'failed']
const isEnded = (state: string): boolean => state === 'completed' || state === 'failed'
/** Returns true if a task may move from one state to another. */
const mayMove = (from: string, to: string): boolean =>
  from === to || (!isEnded(from) && ORDER.indexOf(to) > ORDER.indexOf(from))

const KEYS = [KEY, OTHER_KEY]

describe.each(KINDS)('tasks of %s', (kind: Kind) => {
  test('behave like the model', { ...TIMED, timeout: 180_000 }, async () => {
    stage = await VideoStage.open(kind, {
      tasks: { poll: 10 },
      config: { keys: [keyOf(KEY, 'one'), keyOf(OTHER_KEY, 'two')] },
    })
    const { upstream, another } = stage
    /** Two gateways of one store. Requests alternate between them. */
    const gateways = [stage.testServer, await another()]
    let asked = 0
    const next = (): TestServer => gateways[asked++ % 2]!
    const known: Known[] = []
    /** Number of orders of each key that an upstream may have accepted without an answer. */
    const unknown = [0, 0]
    /** Number of tasks that the upstream accepted and was not told to delete, and of prompts. */
    let [accepted, prompts] = [0, 0]
    const headersOf = (key: number, more = {}) => ({ authorization: `Bearer ${KEYS[key]}`, ...more })
    const ask = async (key: number, method: string, path: string, body?: JsonObject, more = {}) => {
      const answer = await next().ask(path, body, { method, headers: headersOf(key, more) })
      for (const id of upstream.tasks.keys()) expect(answer.text, 'the id of an upstream').not.toContain(id)
      expect(answer.text).not.toContain(new URL(upstream.address).host)
      return answer
    }
    const poll = async (task: Known, by = task.key) => {
      const { status, json } = await ask(by, 'GET', `/v1/videos/${task.id}`)
      if (task.isRemoved || by !== task.key) expect(status).toBe(404)
      else {
        expect([status, json.id]).toEqual([200, task.id])
        expect([task.state, json.status]).toSatisfy(([from, to]: [string, string]) => mayMove(from, to))
        if (json.status === 'failed') expect(json.error.message).not.toBe('')
        task.state = json.status
      }
      return status
    }
    const add = (key: number, json: JsonObject): Known => {
      const task = { id: String(json['id']), key, state: String(json['status']), isRemoved: false }
      known.push(task)
      return task
    }
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 25 }), async ops => {
        const [first, idems] = [known.length, new Map<string, string>()]
        const run = `${++prompts}`
        upstream.heal()
        upstream.life = { queued: 1, running: Number.POSITIVE_INFINITY, outcome: 'completed' }
        const taskAt = (index: number): Known | undefined => known.slice(first)[index]
        for (const one of ops) {
          if (one.do === 'create') {
            const name = one.idem && `${run}-${one.key}-${one.idem}`
            const earlier = name && idems.get(name)
            if (one.fault !== undefined) upstream.fail('submit', one.fault, 1)
            const before = upstream.tasks.size
            const body = { model: PUBLIC, prompt: name ?? `video ${++prompts}` }
            const { status, json } = await ask(one.key, 'POST', '/v1/videos', body, name && { 'idempotency-key': name })
            upstream.heal('submit')
            const made = upstream.tasks.size - before
            expect(made).toBeLessThanOrEqual(1)
            accepted += made
            if (status !== 200) {
              expect(earlier).toBeUndefined()
              unknown[one.key]!++
              continue
            }
            if (earlier !== undefined) expect([json.id, made]).toEqual([earlier, 0])
            if (name !== undefined) idems.set(name, json.id)
            if (!known.some(({ id }) => id === json.id)) add(one.key, json)
          } else if (one.do === 'list') {
            const seen: string[] = []
            const query = `limit=${one.limit}&order=${one.order}`
            for (let after = ''; ; ) {
              const { status, json } = await ask(one.key, 'GET', `/v1/videos?${query}${after && `&after=${after}`}`)
              expect(status).toBe(200)
              for (const task of json.data) {
                seen.push(task.id)
                if (known.some(({ id }) => id === task.id)) continue
                expect(unknown[one.key]!--).toBeGreaterThan(0)
                add(one.key, task)
              }
              if (json.has_more !== true) break
              after = json.last_id ?? json.data.at(-1).id
            }
            expect(new Set(seen).size).toBe(seen.length)
            const own = known.filter(({ key, isRemoved }) => key === one.key && !isRemoved).map(({ id }) => id)
            expect([...seen].sort()).toEqual([...own].sort())
          } else if (one.do === 'outage') {
            if (one.fault === undefined) upstream.heal()
            else for (const step of ['poll', 'content'] as const) upstream.fail(step, one.fault, 3)
          } else if (one.do === 'finish') {
            const task = [...upstream.tasks.values()].at(-1 - one.at)
            if (task !== undefined) upstream.finish(task, one.outcome)
          } else if (one.do === 'wait') await pause(12)
          else if (one.do === 'restart') {
            await gateways[1]!.server.close(0)
            gateways[1] = await another()
          } else {
            const task = taskAt(one.at)
            if (task === undefined) continue
            const isTheirs = one.key === task.key && !task.isRemoved
            if (one.do === 'poll') await poll(task, one.key)
            else if (one.do === 'remove') {
              const before = upstream.tasks.size
              const { status } = await ask(one.key, 'DELETE', `/v1/videos/${task.id}`)
              const deleted = before - upstream.tasks.size
              expect(deleted).toBeLessThanOrEqual(isTheirs ? 1 : 0)
              accepted -= deleted
              if (!isTheirs) expect(status).toBe(404)
              else if (status === 200) {
                task.isRemoved = true
                await poll(task)
              } else expect(status).toBe(isEnded(task.state) ? 502 : 409)
            } else if (one.do === 'remix') {
              const before = upstream.tasks.size
              const body = { prompt: `remix ${++prompts}` }
              const { status, json } = await ask(one.key, 'POST', `/v1/videos/${task.id}/remix`, body)
              accepted += upstream.tasks.size - before
              if (!isTheirs) expect(status).toBe(404)
              if (status === 200) {
                expect([kind, json.remixed_from_video_id]).toEqual(['videos', task.id])
                add(one.key, json)
              }
            } else {
              const range = one.do === 'range' ? { range: 'bytes=10-19' } : {}
              const method = one.do === 'head' ? 'HEAD' : 'GET'
              const path = `/v1/videos/${task.id}/content`
              const answer = await next()
                .ask(path, undefined, { method, headers: headersOf(one.key, range) })
                .catch(() => undefined)
              // An upstream that breaks off in the middle breaks the answer off, too.
              if (answer === undefined) continue
              if (!isTheirs) expect(answer.status).toBe(404)
              else if (answer.status === 200 || answer.status === 206) {
                expect(answer.status).toBe(one.do === 'range' ? 206 : 200)
                await poll(task)
                expect(task.state).toBe('completed')
              } else {
                await poll(task)
                // 409 until it is completed; then failures of the upstream.
                expect([409, 429, 502, 503, 400, 410]).toContain(answer.status)
              }
            }
          }
        }
        expect(upstream.tasks.size).toBe(accepted)
      }),
      { numRuns: Number(process.env['RUNS'] ?? 25) },
    )
    await gateways[1]!.server.close(0)
  })
})
