import { expect, it } from 'vitest'
import { FORMAT_FACTS, fitnessOf } from '../../../../src/formats/index.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { addUser, SignedIn } from '../../../builders/console.ts'
import { TIMED } from '../../../builders/time.ts'

const closing = closingAfterEach()

async function open() {
  const admin = await AdminServer.open([])
  closing.push(() => admin.close())
  return admin
}

const BODY = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], seed: 7, max_tokens: 5 }

it('a request is shown in each other format for conversations, with its losses in both texts', async () => {
  const admin = await open()
  const { json } = await admin.post('/translate', { text: JSON.stringify(BODY) })
  expect(json).toMatchObject({ format: 'chat', kind: 'request', work: 'conversation', canonical: { model: 'm' } })
  const others = [...FORMAT_FACTS.keys()].filter(one => one !== 'chat' && fitnessOf(one, 'conversation') === 'primary')
  expect(Object.keys(json.formats).sort()).toEqual(others.sort())
  expect(JSON.parse(json.formats.messages.text)).toMatchObject({ model: 'm', max_tokens: 5 })
  expect(json.formats.messages).toMatchObject({ path: '/v1/messages' })
  expect(json.formats.messages.losses).toContainEqual({
    ...{ kind: 'dropped', path: ['sampling', 'seed'], reason: 'no-seed', restored: false },
    pointer_from: '/seed',
  })
})

it('every example is what it says, and has a place in another format where one does its work', async () => {
  const admin = await open()
  const { data } = (await admin.get('/translate/examples')).json
  expect(data.length).toBeGreaterThan(50)
  for (const { format, kind, text } of data) {
    const { status, json } = await admin.post('/translate', { text, format, kind })
    expect(status).toBe(200)
    for (const other of Object.values(json.formats)) expect(other).not.toHaveProperty('error')
  }
  const formats = new Set(data.map((one: { format: string }) => one.format))
  expect([...formats]).toEqual(
    expect.arrayContaining(['chat', 'messages', 'responses', 'contents', 'images', 'rerank']),
  )
})

it('what cannot be read is refused in words that name the text', async () => {
  const admin = await open()
  for (const text of ['{"model":', 'hello', '[1]', '{}', `{"a":${'['.repeat(500)}${']'.repeat(500)}}`]) {
    const { status, json } = await admin.post('/translate', { text, format: 'chat' })
    expect(status).toBe(400)
    expect(json.errors).toMatchObject([{ pointer: '/text' }])
  }
  expect((await admin.post('/translate', { text: 'hello' })).json.detail).toBe('/text: matches no known format')
  expect((await admin.post('/translate', { text: ' ' })).json.detail).toBe('/text: is empty')
  expect((await admin.post('/translate', { text: 'x'.repeat(300_000) })).status).toBe(400)
  expect((await admin.post('/translate', { text: '{}', format: 'none' })).status).toBe(400)
})

/** Texts with as many readings, paths or losses as parts. */
const LARGE: { readonly [what: string]: () => object } = {
  'many messages': () => {
    const messages = Array.from({ length: 2000 }, (_, index) => ({
      ...{ role: index % 2 === 0 ? 'user' : 'assistant', name: `n${index}` },
      content: [{ type: 'text', text: 'word '.repeat(8) }],
    }))
    return { ...BODY, messages, logit_bias: { 1: 2 }, presence_penalty: 1, user: 'me' }
  },
  'many fields that no format knows': () => ({
    ...Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${index}`, 1])),
    ...BODY,
  }),
}

it.each(Object.entries(LARGE))(
  'large texts are translated in little time, and others have their turn meanwhile: %s',
  TIMED,
  async (_, textOf) => {
    const admin = await open()
    const text = JSON.stringify(textOf())
    const began = performance.now()
    let longest = 0
    let last = began
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    const { status } = await admin.post('/translate', { text })
    clearInterval(watch)
    expect(status).toBe(200)
    expect(performance.now() - began).toBeLessThan(15_000)
    expect(longest).toBeLessThan(1500)
  },
)

it('viewers may translate, as nothing is sent or stored', async () => {
  const admin = await open()
  await addUser(admin.store, 'vic', { role: 'viewer' })
  const vic = await SignedIn.at(admin.testServer, 'vic')
  expect((await vic.ask('POST', '/translate', { text: JSON.stringify(BODY) })).status).toBe(200)
})
