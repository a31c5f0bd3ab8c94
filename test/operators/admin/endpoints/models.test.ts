import { expect, it } from 'vitest'
import { checkedModel } from '../../../../src/config/stored-channel.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { channelAt, KEY, keyOf } from '../../../builders/config.ts'
import { deadAddress } from '../../../builders/upstream.ts'

const closing = closingAfterEach()

async function open() {
  const address = await deadAddress()
  const named = (...ids: string[]) => ({ named: new Map(ids.map(id => [id, `up-${id}`])), patterns: [] })
  const admin = await AdminServer.open(
    [
      channelAt(address, { name: 'one', models: named('a', 'b'), provider: 'openai' }),
      channelAt(address, { name: 'two', models: named('b', 'c'), format: 'messages' }),
      channelAt(address, { name: 'film', models: named('v'), format: 'videos' }),
    ],
    {
      keys: [keyOf(KEY, 'fixed')],
      models: new Map([
        [
          'a',
          {
            id: 'a',
            interface: 'responses',
            context: 1000,
            input: ['text', 'pdf'],
            output: [],
            price: { input: 1.5, output: 6 },
          },
        ],
      ]),
    },
  )
  closing.push(() => admin.close())
  return admin
}

it('show where they are, what they cost and in which formats they can be used', async () => {
  const admin = await open()
  const { data } = (await admin.get('/models')).json
  expect(data).toMatchObject([
    {
      ...{ id: 'a', interface: 'responses', context: 1000, price: { input: 1.5, output: 6 } },
      ...{ native: ['chat'], abilities: ['converse'], input: ['text', 'pdf'] },
      channels: [{ name: 'one', upstream_model: 'up-a', state: 'ok' }],
    },
    { id: 'b', native: ['chat', 'messages'], channels: [{ name: 'one' }, { name: 'two' }] },
    { id: 'c', native: ['messages'], interface: 'messages' },
    { id: 'v', native: ['videos'], interface: 'videos', translated: expect.arrayContaining(['generations']) },
  ])
  expect(data[3].translated).not.toContain('chat')
})

it('of a key are exactly those that its own list has', async () => {
  const admin = await open()
  await admin.post('/groups', { name: 'team', models: ['a', 'b', 'v'], channels: ['one', 'film'] })
  const ids = async (fields: object): Promise<string[]> => {
    const { id, secret } = (await admin.post('/keys', { group: 'team', ...fields })).json
    const { data } = (await admin.get(`/models?key=${id}`)).json
    const headers = { authorization: `Bearer ${secret}` }
    const own = await admin.testServer.ask('/v1/models', undefined, { method: 'GET', headers })
    const seen = data.map((model: { id: string }) => model.id)
    expect(own.json.data.map((model: { id: string }) => model.id)).toEqual(seen)
    return seen
  }
  expect(await ids({ name: '1' })).toEqual(['a', 'b', 'v'])
  expect(await ids({ name: '2', models: ['b', 'c'] })).toEqual(['b'])
  expect(await ids({ name: '3', doors: ['chat', 'messages'] })).toEqual(['a', 'b'])
  expect(await ids({ name: '4', doors: ['videos'] })).toEqual(['v'])
  expect(await ids({ name: '5', group: 'default' })).toEqual(['a', 'b', 'c', 'v'])
  const { id } = (await admin.get('/keys?name=fixed')).json.data[0]
  expect((await admin.get(`/models?key=${id}`)).json.data).toHaveLength(4)
  const { id: revoked } = (await admin.post('/keys', { name: 'brief' })).json
  await admin.delete(`/keys/${revoked}`)
  expect((await admin.get(`/models?key=${revoked}`)).json.data).toEqual([])
  expect((await admin.get('/models?key=nobody')).json.errors).toMatchObject([{ parameter: 'key' }])
})

it('show prices of all units, of the config file and of the catalogue', async () => {
  const address = await deadAddress()
  const models = { named: new Map(['own', 'tts-1', 'sora-2'].map(id => [id, id])), patterns: [] }
  const units = { image: 0.04, characters: 15, minute: 0.006, search: 4, video_second: 0.1, session_minute: 0.3 }
  const { value: own } = checkedModel('own', { price: units })
  const admin = await AdminServer.open([channelAt(address, { models, provider: 'openai' })], {
    models: new Map([['own', own!]]),
  })
  closing.push(() => admin.close())
  const { data } = (await admin.get('/models')).json
  expect(Object.fromEntries(data.map(({ id, price }: { id: string; price: object }) => [id, price]))).toEqual({
    own: units,
    'sora-2': { video_second: expect.any(Number) },
    'tts-1': { characters: 15 },
  })
})
