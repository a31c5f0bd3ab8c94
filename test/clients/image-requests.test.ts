import { describe, expect, test } from 'vitest'
import { KEY } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'

/* Image requests are checked before any upstream gets them. */

const { open: openBefore } = opener()

async function open(format = 'images') {
  const { testServer, upstream } = await openBefore(response => response.writeHead(500).end(), {}, { format })
  return { testServer, seen: upstream.seen }
}

const PICTURE = 'data:image/png;base64,iVBORw0KGgo='

describe.each([0, -1, 1.5, 'abc'])('a count of %j is refused, and the field is named', n => {
  test.each([
    ['/v1/images/generations', { prompt: 'a boat' }],
    ['/v1/images/edits', { prompt: 'a boat', images: [{ image_url: PICTURE }] }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
    ['/v1/completions', { prompt: 'hi' }],
  ])('%s', async (path, body) => {
    const { testServer, seen } = await open()
    const { status, json } = await testServer.ask(path, { model: 'm', ...body, n })
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ type: 'invalid_request_error', param: 'n' })
    expect(seen).toHaveLength(0)
  })

  test.each(['edits', 'variations'])('a form of %s', async door => {
    const { testServer, seen } = await open()
    const { status, json } = await sendForm(testServer, door, { model: 'm', prompt: 'a boat', n: String(n) }, ['image'])
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ type: 'invalid_request_error', param: 'n' })
    expect(seen).toHaveLength(0)
  })

  test('contents', async () => {
    const { testServer, seen } = await open()
    const body = { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { candidateCount: n } }
    const { status, json } = await testServer.ask('/v1beta/models/m:generateContent', body)
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ status: 'INVALID_ARGUMENT', message: expect.stringContaining('candidateCount') })
    expect(seen).toHaveLength(0)
  })
})

describe('a form that cannot be meant', () => {
  test.each([
    ['edits', { model: 'm' }, ['image'], [], 'prompt'],
    ['edits', { model: 'm', prompt: 'a' }, [], ['image'], 'image'],
    ['edits', { model: 'm', prompt: 'a' }, ['image[]'], ['image[]'], 'image[]'],
    ['edits', { model: 'm', prompt: 'a' }, ['image'], ['mask'], 'mask'],
    ['edits', { model: 'm', prompt: 'a' }, ['mask'], [], 'image'],
    ['edits', { model: 'm', prompt: 'a' }, [], [], 'image'],
    ['variations', { model: 'm' }, [], ['image'], 'image'],
    ['variations', { model: 'm' }, ['mask'], [], 'image'],
  ])('%s of %j with %j, and %j empty: %s', async (door, fields, full, empty, param) => {
    const { testServer, seen } = await open()
    const { status, json } = await sendForm(testServer, door, fields, full, empty)
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ type: 'invalid_request_error', param })
    expect(seen).toHaveLength(0)
  })

  test('a form in another endpoint’s format with a large image as its first part', async () => {
    const { testServer, seen } = await open('contents')
    const { status, json } = await sendForm(testServer, 'edits', { model: 'm' }, ['image'], [], 5 * 1024 * 1024)
    expect({ status, param: json.error.param, asked: seen.length }).toEqual({ status: 400, param: 'prompt', asked: 0 })
  })
})

test('pictures named in JSON are there, too', async () => {
  const { testServer, seen } = await open()
  const ask = (body: object) => testServer.ask('/v1/images/edits', { model: 'm', prompt: 'a', ...body })
  const empty = 'data:image/png;base64,'
  for (const [body, param] of [
    [{ images: [] }, 'image'],
    [{ mask: { image_url: PICTURE } }, 'image'],
    [{ images: [{ image_url: empty }] }, 'images'],
    [{ images: [{ image_url: '' }] }, 'images'],
    [{ image: '' }, 'image'],
    [{ image: `${empty}@@@@` }, 'image'],
    [{ images: [{ image_url: PICTURE }], mask: { image_url: empty } }, 'mask'],
  ] as const) {
    const { status, json } = await ask(body)
    expect({ status, param: json.error.param }).toEqual({ status: 400, param })
  }
  expect(seen).toHaveLength(0)
})

test('what cannot be told of pictures is named where the caller put them', async () => {
  const { testServer } = await open('contents')
  const image_url = PICTURE
  const ask = (body: object) => testServer.ask('/v1/images/edits', { model: 'm', prompt: 'a', ...body })
  for (const [body, param] of [
    [{ images: [{ image_url }, { file_id: 'f' }] }, 'images.1'],
    [{ image: { file_id: 'f' } }, 'image'],
    [{ images: [{ image_url }], mask: { image_url } }, 'mask'],
  ] as const) {
    const { status, json } = await ask(body)
    expect({ status, param: json.error.param }).toEqual({ status: 422, param })
  }
  const { status, json } = await sendForm(testServer, 'edits', { model: 'm', prompt: 'a' }, ['image', 'mask'])
  expect({ status, param: json.error.param }).toEqual({ status: 422, param: 'mask' })
})

async function sendForm(
  testServer: TestServer,
  door: string,
  fields: { readonly [name: string]: string },
  full: readonly string[],
  empty: readonly string[] = [],
  size = 9,
) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const name of full) form.append(name, new File([new Uint8Array(size)], 'a.png', { type: 'image/png' }))
  for (const name of empty) form.append(name, new File([], 'b.png', { type: 'image/png' }))
  const headers = { authorization: `Bearer ${KEY}` }
  const answer = await fetch(`${testServer.server.address}/v1/images/${door}`, { method: 'POST', body: form, headers })
  return { status: answer.status, json: (await answer.json()) as { error: { param?: string } } }
}
