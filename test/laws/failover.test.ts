import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { ANSWER, ASK, events, failure, HEAD, json, TAIL, words } from '../builders/chat.ts'
import { channelAt, configOf } from '../builders/config.ts'
import { KEY_A, KEY_B, KEY_C, keyIn, poolAt } from '../builders/key-pools.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH, MESSAGES_PATH } from '../builders/paths.ts'
import { until } from '../builders/time.ts'

/* Requests over generated channels, pools of keys and failures, sent to real upstreams on the loopback. */

const { openGateway, openUpstream } = opener()

/** What an upstream does with one request. */
type Deed = keyof typeof DEEDS

/** Extent of a rest after a failure: the model, or the whole channel or key. */
type Scope = 'model' | 'all'

interface Outcome {
  readonly send: (response: ServerResponse, said: string, isStream: boolean) => void
  /** True if another target may be tried. */
  readonly retries: boolean
  /** True if the failure concerns the key alone, so that the next key of the pool may be tried. */
  readonly ofKey?: boolean
  readonly rests?: Scope
}

const says =
  (status: number, message = 'No.', headers = {}) =>
  (response: ServerResponse): void =>
    json(response, failure(message), status, headers)

/** Behaviours of upstreams, with what follows from each. */
const DEEDS = {
  answer: {
    send: (response, said, isStream) =>
      isStream
        ? void events(response).end(`${HEAD}${words(said)}${TAIL}`)
        : json(response, { ...ANSWER, choices: [{ ...ANSWER.choices[0], message: { content: said } }] }),
    retries: false,
  },
  cut: {
    send: (response, said, isStream) => {
      if (!isStream) return response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy())
      events(response).write(`${HEAD}${words(said)}`)
      setTimeout(() => response.destroy(), 5)
      return undefined
    },
    retries: true,
    rests: 'model',
  },
  limit: { send: says(429, 'Slow down.', { 'retry-after': '30' }), retries: true, ofKey: true, rests: 'model' },
  limitEnded: { send: says(429, 'Slow down.', { 'retry-after': '0' }), retries: true, ofKey: true },
  broken: { send: says(500), retries: true, rests: 'model' },
  busy: { send: says(503), retries: true, rests: 'model' },
  forbidden: { send: says(403), retries: true, ofKey: true, rests: 'model' },
  unknownKey: { send: says(401, 'Incorrect API key provided.'), retries: true, ofKey: true, rests: 'all' },
  unpaid: { send: says(402, 'Pay.'), retries: true, ofKey: true, rests: 'all' },
  absent: { send: says(404, 'No such model.'), retries: true, ofKey: true },
  wrong: { send: says(400, 'The field is wrong.'), retries: false },
} as const satisfies { readonly [name: string]: Outcome } as { readonly [name: string]: Outcome }

const KEYS = [KEY_A, KEY_B, KEY_C]

const channel = fc.record({
  priority: fc.constantFrom(0, 1),
  weight: fc.constantFrom(0, 1, 3),
  keys: fc.constantFrom(0, 0, 1, 2, 3),
})

const request = fc.record({
  isStream: fc.boolean(),
  isForeign: fc.boolean(),
  /** What each target does with this request, in the order in which they are tried. */
  deeds: fc.array(fc.constantFrom<Deed>(...Object.keys(DEEDS), 'answer'), { minLength: 12, maxLength: 12 }),
})

const bodyOf = (text: string, isStream: boolean, isForeign: boolean): object => ({
  ...ASK,
  stream: isStream,
  messages: [{ role: 'user', content: text }],
  ...(isForeign ? { max_tokens: 9 } : {}),
})

describe('a request', () => {
  it('tries each target once in the right order, and ends at the first answer', { timeout: 60_000 }, async () => {
    /** Targets that were tried for the current request, with what they did. */
    let tried: { target: string; deed: Deed }[] = []
    let deeds: readonly Deed[] = []
    const upstream = await openUpstream((response, seen) => {
      const name = seen.url.split('/')[1]!
      const deed = deeds[tried.length]!
      tried.push({ target: `${name} ${keyIn(seen)}`, deed })
      DEEDS[deed]!.send(response, `said-by-${name}`, JSON.parse(seen.text).stream === true)
    })
    const gateway = await openGateway([])
    let turn = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(channel, { minLength: 1, maxLength: 4 }),
        fc.array(request, { minLength: 1, maxLength: 4 }),
        async (list, requests) => {
          turn++
          const channels: readonly ChannelConfig[] = list.map(({ priority, weight, keys }, index) => {
            const name = `c${index}-${turn}`
            const address = `${upstream.address}/${name}`
            return keys === 0
              ? channelAt(address, { name, priority, weight })
              : { ...poolAt(`${address}/v1`, KEYS.slice(0, keys), { name }), priority, weight }
          })
          gateway.server.reload(configOf(channels))
          const targets = channels.flatMap(({ name, keys, key }) =>
            (keys ?? [{ key }]).map(one => `${name} ${one.key}`),
          )
          const channelOf = (target: string): string => target.split(' ')[0]!
          const priorityOf = (target: string): number =>
            channels.find(({ name }) => name === channelOf(target))!.priority
          /** Targets that rest, and channels whose pool does. */
          const resting = new Set<string>()
          const rests = (target: string): boolean => resting.has(target) || resting.has(channelOf(target))
          for (const [index, { isStream, isForeign, deeds: next }] of requests.entries()) {
            tried = []
            deeds = next
            gateway.lines.length = 0
            const wasResting = new Set(targets.filter(rests))
            const answer = await gateway.ask(
              isForeign ? MESSAGES_PATH : CHAT_PATH,
              bodyOf(`${turn} ${index}`, isStream, isForeign),
              { headers: isForeign ? { 'anthropic-version': '2023-06-01' } : {} },
            )
            const order = tried.map(({ target }) => target)
            const last = tried.at(-1)!
            const [first] = order
            // Each target once, and no other.
            expect(new Set(order).size).toBe(order.length)
            expect(targets).toEqual(expect.arrayContaining(order))
            // Resting targets last, and the others by priority.
            const awake = order.filter(target => !wasResting.has(target))
            expect(order.slice(0, awake.length)).toEqual(awake)
            expect(awake.map(priorityOf)).toEqual(awake.map(priorityOf).sort())
            expect(targets.some(target => !wasResting.has(target)) && wasResting.has(first!)).toBe(false)
            // No target after an answer, a failure of the caller, or a stream that began.
            const isEnd = ({ deed }: (typeof tried)[0]): boolean =>
              !DEEDS[deed]!.retries || (deed === 'cut' && isStream)
            expect(tried.slice(0, -1).some(isEnd)).toBe(false)
            // Each channel, unless one ended the request.
            if (!isEnd(last)) expect(new Set(order.map(channelOf)).size).toBe(channels.length)
            // No further key of a channel whose upstream failed for all.
            for (const [at, { target, deed }] of tried.entries())
              if (DEEDS[deed]!.ofKey !== true)
                expect(order.slice(at + 1).map(channelOf)).not.toContain(channelOf(target))
            if (last.deed === 'answer') {
              expect(answer.status).toBe(200)
              expect(answer.text).toContain(`said-by-${channelOf(last.target)}`)
            } else if (last.deed !== 'cut') expect(answer.status).toBeGreaterThanOrEqual(400)
            // One row, for the target that was tried last.
            const rowsOf = () => gateway.lines.filter(({ fields }) => fields['door'] !== undefined)
            await until(() => rowsOf().length === 1)
            expect(rowsOf()[0]!.fields).toMatchObject({ attempts: order.length, channel: channelOf(last.target) })
            for (const { target, deed } of tried) {
              const { rests: scope, ofKey } = DEEDS[deed]!
              const isPooled = channels.find(({ name }) => name === channelOf(target))!.keys !== undefined
              if (scope !== undefined) resting.add(isPooled && ofKey !== true ? channelOf(target) : target)
              if (deed === 'answer') {
                resting.delete(target)
                resting.delete(channelOf(target))
              }
            }
          }
        },
      ),
      { numRuns: 30 },
    )
  })
})
