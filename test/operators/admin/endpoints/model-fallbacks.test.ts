import { expect, it } from 'vitest'
import { readConfig } from '../../../../src/config/read.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { channelAt } from '../../../builders/config.ts'

const closing = closingAfterEach()

const CONFIG = `
models: { m: { fallbacks: [{ model: n, on: [failure, context] }, o] } }
groups: { default: {}, team: { fallbacks: [{ model: m, on: [budget] }] } }
keys: [{ name: k, key: il-test-of-fallbacks, group: team }]
channels: []
`

it('lists the fallbacks of models, and with a key those of its group', async () => {
  const { models, groups, keys } = readConfig(CONFIG, {})
  const named = new Map(['m', 'n', 'o'].map(id => [id, id]))
  const channel = channelAt('http://127.0.0.1:9', { models: { named, patterns: [] } })
  const admin = await AdminServer.open([channel], { models, groups, keys })
  closing.push(() => admin.close())
  const listed = async (query = '') => {
    const { data } = (await admin.get(`/models${query}`)).json
    return Object.fromEntries(data.map(({ id, fallbacks }: { id: string; fallbacks: unknown }) => [id, fallbacks]))
  }
  const own = [
    { model: 'n', on: ['failure', 'context'] },
    { model: 'o', on: ['failure', 'rate-limit', 'context', 'refusal', 'budget'] },
  ]
  expect(await listed()).toEqual({ m: own, n: undefined, o: undefined })
  const { data } = (await admin.get('/keys')).json
  const { id } = data.find(({ name }: { name: string }) => name === 'k')
  const group = [{ model: 'm', on: ['budget'] }]
  expect(await listed(`?key=${encodeURIComponent(id)}`)).toEqual({ m: own, n: group, o: group })
})
