import { request } from 'node:http'
import { expect, test } from 'vitest'
import { BILLED_ANSWERS, eventText } from '../../builders/billed-answers.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { textOf } from '../../builders/http.ts'
import { SERVING_KEY, Serving } from '../../builders/serving.ts'
import { pause, TIMED, until } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

const closing = closingAfterEach()
/** Ends of the answers of `held`. */
let ends: (() => void)[]

async function open() {
  ends = []
  const upstream = await FakeUpstream.open((response, { text }) => {
    const { model, stream } = JSON.parse(text)
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
    const { whole, stream: streamed } = BILLED_ANSWERS['chat']!
    const pieces = stream ? streamed!(40, 1000).map(eventText) : [JSON.stringify(whole(40, 1000))]
    if (model !== 'held') return response.end(pieces.join(''))
    response.write(pieces[0]!)
    ends.push(() => response.end(pieces.slice(1).join('')))
    return undefined
  })
  closing.push(() => upstream.close())
  const config = {
    server: { port: 0, drain: '0s', grace: '1s', workers: 2 },
    data_dir: 'data',
    usage: { keep: '10d' },
    groups: { default: { models: ['*'], budget: { day: 0.1, month: 1 } } },
    keys: [{ name: 'dev', key: SERVING_KEY, group: 'default' }],
    channels: [
      {
        ...{ name: 'up', provider: 'custom', formats: ['chat'], key: 'upstream-key', models: ['whole', 'held'] },
        base_url: `${upstream.address}/v1`,
      },
    ],
  }
  const priced = (output: number) => {
    const price = { input: 0, output }
    return { ...config, models: { whole: { price }, held: { price } } }
  }
  const serving = await Serving.start(priced(1))
  closing.push(() => serving.close())
  await until(() => serving.workers.length === 2)
  return { serving, priced }
}

/** Sends requests over connections of their own. Returns how many of them were answered. */
async function answered({ address }: Serving, count: number, model = 'whole', stream = false): Promise<number> {
  const body = JSON.stringify({ model, stream, max_tokens: 1000, messages: [{ role: 'user', content: 'Hi.' }] })
  const headers = { authorization: `Bearer ${SERVING_KEY}`, 'content-length': Buffer.byteLength(body) }
  const send = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const out = request(`${address}/v1/chat/completions`, { method: 'POST', agent: false, headers })
      out.on('error', reject).on('response', answer => {
        textOf(answer).then(() => resolve(answer.statusCode), reject)
      })
      out.end(body)
    })
  const statuses = await Promise.all(Array.from({ length: count }, send))
  return statuses.filter(status => status === 200).length
}

test(
  'two workers that count in the primary spend a budget to its end, at prices that change in the middle',
  TIMED,
  async () => {
    const { serving, priced } = await open()
    const held = answered(serving, 10, 'held', true)
    await until(() => ends.length === 10)
    // A tenth of a cent each.
    expect(await answered(serving, 20)).toBe(20)
    serving.write(priced(2))
    serving.child.kill('SIGHUP')
    await until(() => serving.lines('config reloaded').length > 0)
    for (const end of ends) end()
    expect(await held).toBe(10)
    await until(() => serving.lines('request').length === 30)
    // Two tenths of a cent for each of the ten, and for each of those that follow.
    let count = 0
    for (let tries = 0; tries < 8 || count < 30; tries++) {
      count += await answered(serving, tries < 2 ? 14 : 2)
      await pause(60)
      if (tries > 50) break
    }
    expect(count).toBe(30)
  },
)
