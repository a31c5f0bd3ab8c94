import { expect, test } from 'vitest'
import { ANSWER, ASK, json } from '../builders/chat.ts'
import { configOf, type TestServerOptions } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

const { open } = opener()

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const behind = (fields: object): TestServerOptions => ({ config: { server: { ...configOf([]).server, ...fields } } })

const addressIn = (lines: readonly { message: string; fields: { [name: string]: unknown } }[]) =>
  lines.filter(({ message }) => message === 'request').map(({ fields }) => fields['address'])

test('the log has the address of a caller behind trusted proxies, else only of one that was refused', async () => {
  const forged = { 'x-forwarded-for': '9.9.9.9, 203.0.113.7' }
  const trusted = await open(response => json(response, ANSWER), behind({ trustedProxies: ['127.0.0.0/8'] }))
  await trusted.testServer.ask('/v1/chat/completions', ASK, { headers: forged })
  expect(addressIn(trusted.testServer.lines)).toEqual(['203.0.113.7'])
  const alone = await open(response => json(response, ANSWER))
  await alone.testServer.ask('/v1/chat/completions', ASK, { headers: forged })
  await alone.testServer.ask('/v1/chat/completions', ASK, { headers: { ...forged, authorization: 'Bearer wrong' } })
  expect(addressIn(alone.testServer.lines)).toEqual([undefined, '127.0.0.1'])
})

test('pictures are linked below the address that their caller used', async () => {
  const publicUrls = ['https://ai.example.cn', 'https://ai.example.com/gate']
  const picture = (options: TestServerOptions) =>
    open(response => json(response, { created: 1, data: [{ b64_json: PNG }] }), options, { format: 'images' })
  const trusting = await picture(behind({ trustedProxies: ['127.0.0.1'], publicUrls }))
  const linked = async ({ testServer }: typeof trusting, headers: { [name: string]: string }) => {
    const asked = { model: 'm', prompt: 'a boat', response_format: 'url' }
    const { json: made } = await testServer.ask('/v1/images/generations', asked, { headers })
    return made.data[0].url.split('/v1/')[0]
  }
  expect(await linked(trusting, { host: 'ai.example.com' })).toBe('https://ai.example.com/gate')
  expect(await linked(trusting, { 'x-forwarded-host': 'ai.example.com' })).toBe('https://ai.example.com/gate')
  expect(await linked(trusting, {})).toBe('https://ai.example.cn')
  const alone = await picture({})
  const stated = { host: 'here', 'x-forwarded-host': 'ai.example.com', 'x-forwarded-proto': 'https' }
  expect(await linked(alone, stated)).toBe('http://here')
})
