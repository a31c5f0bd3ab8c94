import { afterAll, beforeAll, expect, it } from 'vitest'
import { AdminServer } from '../../../builders/admin.ts'
import { channelAt } from '../../../builders/config.ts'
import { deadAddress } from '../../../builders/upstream.ts'

let admin: AdminServer
beforeAll(async () => {
  admin = await AdminServer.open([channelAt(await deadAddress())])
})
afterAll(() => admin.close())

const kind = (answer: { json: { type: string } }): string => answer.json.type.split(':').at(-1)!

it('are made, changed, replaced and deleted', async () => {
  const made = (await admin.post('/groups', { name: 'a/b c', rpm: 5, channels: ['x'], budget: { day: 1 } })).json
  expect(made).toMatchObject({ name: 'a/b c', source: 'store', models: ['*'], on_loss: 'show', rpm: 5 })
  const path = '/groups/a%2Fb%20c'
  expect((await admin.get(path)).json).toEqual(made)
  expect((await admin.patch(path, { rpm: null, budget: { month: 9 }, models: ['m'] })).json).toEqual({
    ...{ name: 'a/b c', source: 'store', models: ['m'], channels: ['x'], budget: { day: 1, month: 9 } },
    ...{ on_loss: 'show', created_at: made.created_at },
  })
  expect((await admin.put(path, { doors: ['chat'] })).json).toEqual({
    ...{ name: 'a/b c', source: 'store', models: ['m'], doors: ['chat'], on_loss: 'show' },
    ...{ models: ['*'], created_at: made.created_at },
  })
  expect(kind(await admin.post('/groups', { name: 'a/b c' }))).toBe('name-taken')
  expect((await admin.delete(path)).status).toBe(204)
  expect(kind(await admin.get(path))).toBe('not-found')
  expect(kind(await admin.patch(path, {}))).toBe('not-found')
  expect(kind(await admin.delete(path))).toBe('not-found')
})

it('of the config are listed and never changed', async () => {
  expect((await admin.get('/groups')).json.data).toMatchObject([{ name: 'default', source: 'config' }])
  for (const answer of [
    await admin.post('/groups', { name: 'default' }),
    await admin.put('/groups/default', {}),
    await admin.patch('/groups/default', {}),
    await admin.delete('/groups/default?force'),
  ])
    expect([answer.status, kind(answer)]).toEqual([409, 'read-only'])
})

it('may take the place of the default group where the config declares none', async () => {
  const implied = { name: 'default', models: ['*'], limits: {}, onLoss: 'show', implied: true } as const
  const open = await AdminServer.open([channelAt(await deadAddress())], { groups: new Map([['default', implied]]) })
  try {
    expect((await open.get('/groups/default')).json).toMatchObject({ source: 'config', models: ['*'] })
    await open.put('/groups/default', { models: ['none'] })
    expect((await open.get('/groups')).json.data).toMatchObject([{ source: 'store', models: ['none'] }])
    const { id } = (await open.post('/keys', { name: 'app' })).json
    expect((await open.get(`/models?key=${id}`)).json.data).toEqual([])
    expect((await open.delete('/groups/default?force')).status).toBe(204)
    expect((await open.get(`/models?key=${id}`)).json.data).toHaveLength(1)
  } finally {
    await open.close()
  }
})

it('in the place of the default group have budgets that the overview shows', async () => {
  const implied = { name: 'default', models: ['*'], limits: {}, onLoss: 'show', implied: true } as const
  const open = await AdminServer.open([channelAt(await deadAddress())], { groups: new Map([['default', implied]]) })
  try {
    await open.put('/groups/default', { budget: { day: 2 } })
    const { id } = (await open.post('/keys', { name: 'app' })).json
    const budget = { group: 'default', day: { limit: 2, spent: 0 } }
    expect((await open.get('/budgets')).json.data).toMatchObject([
      { key_name: 'dev', ...budget },
      { key: id, ...budget },
    ])
  } finally {
    await open.close()
  }
})

it('are deleted with keys in them by force only', async () => {
  await admin.post('/groups', { name: 'team' })
  const { id } = (await admin.post('/keys', { name: 'member', group: 'team' })).json
  expect(kind(await admin.delete('/groups/team'))).toBe('in-use')
  await admin.delete(`/keys/${id}`)
  expect((await admin.delete('/groups/team')).status).toBe(204)
  await admin.post('/groups', { name: 'team' })
  await admin.post('/keys', { name: 'member', group: 'team' })
  expect((await admin.delete('/groups/team?force=true')).status).toBe(204)
})

it('refuses unknown formats', async () => {
  expect((await admin.put('/groups/new', { doors: ['chatt'] })).json.errors).toEqual([
    { pointer: '/doors/0', detail: 'unknown format; did you mean "chat"?' },
  ])
})

it('made at once under one name are one, and changes at once are all kept', async () => {
  const made = await Promise.all(Array.from({ length: 6 }, () => admin.post('/groups', { name: 'once' })))
  expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
  const { id } = (await admin.post('/keys', { name: 'many', group: 'once' })).json
  const changes = [{ rpm: 1 }, { tpm: 2 }, { concurrent: 3 }, { budget: { day: 4 } }, { budget: { month: 5 } }]
  for (const path of ['/groups/once', `/keys/${id}`]) {
    await Promise.all(changes.map(change => admin.patch(path, change)))
    const all = { rpm: 1, tpm: 2, concurrent: 3, budget: { day: 4, month: 5 } }
    expect((await admin.get(path)).json).toMatchObject(all)
  }
})
