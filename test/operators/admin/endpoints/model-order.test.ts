import { expect, it } from 'vitest'
import { readConfig } from '../../../../src/config/read.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { ASK, events, HEAD, TAIL, words } from '../../../builders/chat.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { channelAt } from '../../../builders/config.ts'
import { CHAT_PATH } from '../../../builders/paths.ts'
import { TIMED } from '../../../builders/time.ts'
import { FakeUpstream, type Script } from '../../../builders/upstream.ts'

const closing = closingAfterEach()

/** Streams an answer whose head arrives after this number of milliseconds. */
const after =
  (milliseconds: number): Script =>
  response =>
    setTimeout(() => events(response).end(HEAD + words('Hi.') + TAIL), milliseconds)

it('a model ordered by latency reaches its fastest channel, and shows what was measured', TIMED, async () => {
  const [slow, fast] = await Promise.all([after(150), after(0)].map(script => FakeUpstream.open(script)))
  for (const upstream of [slow!, fast!]) closing.push(() => upstream.close())
  const { models } = readConfig('models: { m: { order: latency } }\nchannels: []', {})
  const channels = [slow!, fast!].map(({ address }, index) => channelAt(address, { name: ['slow', 'fast'][index]! }))
  const admin = await AdminServer.open(channels, { models })
  closing.push(() => admin.close())
  for (let index = 0; index < 30; index++) {
    const messages = [{ role: 'user', content: `Task ${index}` }]
    expect((await admin.testServer.ask(CHAT_PATH, { ...ASK, messages, stream: true })).status).toBe(200)
  }
  expect(fast!.seen.length).toBeGreaterThan(20)
  expect(slow!.seen.length).toBeGreaterThan(0)
  const [model] = (await admin.get('/models')).json.data
  expect(model.order).toBe('latency')
  const shown = Object.fromEntries(
    model.channels.map((one: { name: string; first_byte_ms: number }) => [one.name, one.first_byte_ms]),
  )
  expect(shown['slow']).toBeGreaterThan(100)
  expect(shown['fast']).toBeLessThan(shown['slow'])
})
