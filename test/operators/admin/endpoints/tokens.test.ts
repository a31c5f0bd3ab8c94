import { expect, it } from 'vitest'
import { AdminServer } from '../../../builders/admin.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { channelAt } from '../../../builders/config.ts'
import { deadAddress } from '../../../builders/upstream.ts'

const closing = closingAfterEach()

it('are left at least one when two administrators revoke each the other’s at once', async () => {
  const admin = await AdminServer.open([channelAt(await deadAddress())])
  closing.push(() => admin.close())
  const { id, secret } = (await admin.post('/tokens', { name: 'other' })).json
  const other = { authorization: `Bearer ${secret}` }
  const dropped = await Promise.all([
    admin.ask('DELETE', `/tokens/${id}`),
    admin.ask('DELETE', `/tokens/${admin.tokenId}`, undefined, other),
  ])
  expect(dropped.map(({ status }) => status)).not.toEqual([204, 204])
  const seen = await Promise.all([admin.get('/tokens'), admin.ask('GET', '/tokens', undefined, other)])
  expect(seen.map(({ status }) => status)).toContain(200)
})

it('are revoked, the last one by force only', async () => {
  const admin = await AdminServer.open([channelAt(await deadAddress())])
  closing.push(() => admin.close())
  expect((await admin.delete('/tokens/nothing')).status).toBe(404)
  expect((await admin.delete(`/tokens/${admin.tokenId}`)).json.type).toContain('in-use')
  const expires_at = new Date(Date.now() + 60_000).toISOString()
  const made = (await admin.post('/tokens', { name: 'two', expires_at })).json
  expect((await admin.get('/tokens')).json.data).toMatchObject([{ id: admin.tokenId }, { id: made.id, expires_at }])
  expect((await admin.delete(`/tokens/${made.id}`)).status).toBe(204)
  await admin.post('/tokens', { name: 'expired', expires_at: '2020-01-01' })
  expect((await admin.delete(`/tokens/${admin.tokenId}`)).json.type).toContain('in-use')
  expect((await admin.delete(`/tokens/${admin.tokenId}?force`)).status).toBe(204)
  expect((await admin.get('/tokens')).status).toBe(401)
})
