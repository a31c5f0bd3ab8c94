import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { channelAt, KEY, type TestServerOptions } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { formOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'

/* A caller of images chooses among several shapes, of which an upstream may take only one. */

const GIF = Buffer.from('GIF89a and more')
const DATA_URL = `data:image/gif;base64,${GIF.toString('base64')}`

const { openGateway, openUpstream } = opener()

async function open(dialect: JsonObject, options: TestServerOptions = { allow: ['127.0.0.0/8'] }) {
  const upstream = await openUpstream((response, { url }) =>
    url.endsWith('.gif')
      ? response.writeHead(200, { 'content-type': 'image/gif' }).end(GIF)
      : response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ created: 7, data: [{ b64_json: GIF.toString('base64') }] })),
  )
  const testServer = await openGateway([channelAt(upstream.address, { format: 'images', dialect })], options)
  const asked = () => upstream.seen.filter(({ url }) => !url.endsWith('.gif'))
  return { testServer, asked, address: upstream.address }
}

describe('an upstream that takes forms alone', () => {
  const dialect = { edits: 'form' }

  test('is sent what JSON names: addresses fetched, data decoded', async () => {
    const { testServer, asked, address } = await open(dialect)
    const { status, headers } = await testServer.ask('/v1/images/edits', {
      model: 'm',
      prompt: 'at night',
      images: [{ image_url: `${address}/a.gif` }, { image_url: DATA_URL }],
      mask: { image_url: DATA_URL },
      n: 2,
      size: 'auto',
      input_fidelity: 'high',
      moderation: 'low',
      background: null,
      frame_count: 3,
    })
    expect(status).toBe(200)
    expect(headers['interlingua-loss']).toContain('moderation no-moderation-of-forms')
    expect(headers['interlingua-loss']).not.toContain('messages')
    const [seen, ...more] = asked()
    expect(more).toEqual([])
    expect(seen!.url).toBe('/v1/images/edits')
    const form = await formOf(seen!)
    const texts = [...form].filter(([, value]) => typeof value === 'string')
    expect(Object.fromEntries(texts)).toEqual({
      model: 'm',
      prompt: 'at night',
      n: '2',
      size: 'auto',
      input_fidelity: 'high',
      frame_count: '3',
    })
    const files = [...form].flatMap(([field, value]) => (typeof value === 'string' ? [] : [[field, value] as const]))
    expect(files.map(([field, { name, type }]) => [field, name, type])).toEqual([
      ['image[]', 'image.gif', 'image/gif'],
      ['image[]', 'image.gif', 'image/gif'],
      ['mask', 'mask.gif', 'image/gif'],
    ])
    for (const [, file] of files) expect(Buffer.from(await file.arrayBuffer())).toEqual(GIF)
  })

  test.each([
    ['a file only its own upstream knows', { images: [{ file_id: 'file-1' }] }, 422, 'files-only'],
    ['an address that must not be fetched', { images: [{ image_url: 'http://10.0.0.1/a.gif' }] }, 400, 'address'],
    ['what is not there', { images: [{ image_url: 'http://127.0.0.1:1/a.gif' }] }, 400, 'fetched'],
  ])('is not asked for %s', async (_, start, status, why) => {
    const { testServer, asked } = await open(dialect)
    const answer = await testServer.ask('/v1/images/edits', { model: 'm', prompt: 'a', ...start })
    expect({ status: answer.status, asked: asked().length }).toEqual({ status, asked: 0 })
    expect(answer.json.error.message).toContain(why)
    expect(answer.json.error.type).toBe('invalid_request_error')
  })

  test('is not asked for an address where nothing is fetched at all', async () => {
    const { testServer, asked } = await open(dialect, {})
    const body = { model: 'm', prompt: 'a', images: [{ image_url: 'https://pictures.example/a.gif' }] }
    expect((await testServer.ask('/v1/images/edits', body)).status).toBe(422)
    expect(asked()).toEqual([])
  })

  test('is sent a form unchanged', async () => {
    const { testServer, asked } = await open(dialect)
    await send(testServer)
    const form = await formOf(asked()[0]!)
    expect([...form.keys()].sort()).toEqual(['image', 'model', 'prompt'])
  })
})

describe('an upstream that takes JSON alone', () => {
  const dialect = { edits: 'urls' }
  const url = { url: DATA_URL, type: 'image_url' }

  test('is sent a form’s files by their data', async () => {
    const { testServer, asked } = await open(dialect)
    const answer = await send(testServer)
    expect(answer.status).toBe(200)
    expect(JSON.parse(asked()[0]!.text)).toEqual({ model: 'm', prompt: 'a', image: url })
  })

  test('is told addresses in its own words', async () => {
    const { testServer, asked } = await open(dialect, {})
    const image_url = 'https://pictures.example/a.gif'
    const body = { model: 'm', prompt: 'a', images: [{ image_url }], mask: { image_url: DATA_URL } }
    expect((await testServer.ask('/v1/images/edits', body)).status).toBe(200)
    expect(JSON.parse(asked()[0]!.text)).toEqual({
      ...{ model: 'm', prompt: 'a' },
      image: { url: image_url, type: 'image_url' },
      mask: url,
    })
  })

  test('is told as the caller said it who knows its words', async () => {
    const { testServer, asked } = await open(dialect)
    const body = { model: 'm', prompt: 'a', images: [{ ...url, x_a: 1 }] }
    expect((await testServer.ask('/v1/images/edits', body)).status).toBe(200)
    expect(JSON.parse(asked()[0]!.text)).toEqual(body)
  })
})

test('an upstream that takes either is told as the caller said it', async () => {
  const { testServer, asked } = await open({})
  const body = { model: 'm', prompt: 'a', images: [{ image_url: DATA_URL }, { file_id: 'file-1' }] }
  expect((await testServer.ask('/v1/images/edits', body)).status).toBe(200)
  expect(JSON.parse(asked()[0]!.text)).toEqual(body)
})

function send(testServer: TestServer): Promise<Response> {
  const form = new FormData()
  form.append('model', 'm')
  form.append('prompt', 'a')
  form.append('image', new File([GIF], 'a.gif', { type: 'image/gif' }))
  const headers = { authorization: `Bearer ${KEY}` }
  return fetch(`${testServer.server.address}/v1/images/edits`, { method: 'POST', body: form, headers })
}

describe('an upstream that fills one field of an image and leaves the other empty', () => {
  const PICTURE = GIF.toString('base64')
  const GENERATED = '/v1/images/generations'

  /** Opens a gateway with an upstream that answers with bytes or a URL. The other field is `""`. */
  async function opened(filled: 'b64_json' | 'url') {
    const upstream = await openUpstream((response, { url, headers }) => {
      if (url.endsWith('.gif')) return response.writeHead(200, { 'content-type': 'image/gif' }).end(GIF)
      const value = filled === 'url' ? `http://${headers.host}/a.gif` : PICTURE
      const image = { url: '', b64_json: '', revised_prompt: '', [filled]: value }
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ created: 7, data: [image] }))
    })
    return openGateway([channelAt(upstream.address, { format: 'images' })], { allow: ['127.0.0.0/8'] })
  }

  test.each(['b64_json', 'url'] as const)('%s: the image is delivered as bytes', async filled => {
    const testServer = await opened(filled)
    const { json } = await testServer.ask(GENERATED, { model: 'm', prompt: 'x', response_format: 'b64_json' })
    expect(json.data[0]).toMatchObject({ b64_json: PICTURE })
    const streamed = await testServer.ask(GENERATED, { model: 'm', prompt: 'x', stream: true })
    expect(streamed.text).toContain(filled === 'url' ? '/a.gif"' : PICTURE)
  })

  test.each(['b64_json', 'url'] as const)('%s: the image is delivered by an address', async filled => {
    const testServer = await opened(filled)
    const { json } = await testServer.ask(GENERATED, { model: 'm', prompt: 'x', response_format: 'url' })
    const fetched = await fetch(json.data[0].url)
    expect(Buffer.from(await fetched.arrayBuffer())).toEqual(GIF)
  })
})

test('an image without a byte is none, from an upstream of another format', async () => {
  const part = { inlineData: { mimeType: 'image/png', data: '' } }
  const said = { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] }
  const upstream = await openUpstream(response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said)),
  )
  const testServer = await openGateway([channelAt(upstream.address, { format: 'contents', baseUrl: upstream.address })])
  expect((await testServer.ask('/v1/images/generations', { model: 'm', prompt: 'x' })).status).toBe(502)
})
