import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Format } from '../../../src/kit/conformance/format.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { readScenario, stepsOf } from '../../../src/kit/conformance/scenario.ts'
import { decodeBody, encodeRequest, requestOnWire } from '../../../src/kit/conformance/step-request.ts'

/* Requests of every kind in a scenario: JSON, forms, requests without a body, several steps. */

const FORMAT: Format = { ...FORMATS['chat']!, name: 'images', work: 'images', path: () => '/images/generations' }

/** Creates a scenario of two steps in a temporary folder. */
function written() {
  const home = mkdtempSync(join(tmpdir(), 'conformance-steps-'))
  mkdirSync(join(home, 'edit'))
  const files = {
    'scenario.yaml': 'work: images\ntitle: t\nwhy: w\n',
    'images.request.yaml': [
      'path: /images/edits',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the kit
      'form: { model: "${model}", prompt: a cat, "include[]": [a, b], n: 2 }',
      'files: [{ field: image, file: cat.png }]',
    ].join('\n'),
    'images.answer.png': '\u0089PNG',
    'images.2.request.yaml': `method: GET\npath: "/images/\${1.data.0.id}?model=\${model}"`,
    'images.2.answer.json': '{"ok":true}',
    'cat.png': 'a picture',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, 'edit', name), text)
  return readScenario('edit', home)
}

test('a form goes over the wire and comes back as it was', async () => {
  const scenario = written()
  const { request, type } = scenario.wires['images']!
  expect([scenario.modes, type]).toEqual([['whole'], 'image/png'])
  const asked = requestOnWire(FORMAT, request, false, { model: 'm', answers: [] })
  expect(asked).toMatchObject({ method: 'POST', path: '/images/edits' })
  const { type: sent, bytes } = await encodeRequest(asked)
  const { body, files } = await decodeBody(sent!, bytes)
  expect(body).toEqual({ model: 'm', prompt: 'a cat', 'include[]': ['a', 'b'], n: '2' })
  expect(files).toEqual([{ field: 'image', name: 'cat.png', type: 'image/png', bytes: Buffer.from('a picture') }])
})

test('a later step knows the answers before it, and GET has no body', async () => {
  const [, second] = stepsOf(written())
  const known = { model: 'a/b', answers: [{ data: [{ id: 'i-1' }] }] }
  const asked = requestOnWire(FORMAT, second!.wires['images']!.request, false, known)
  expect(asked).toMatchObject({ method: 'GET', path: '/images/i-1?model=a/b' })
  expect(await encodeRequest(asked)).toEqual({ bytes: Buffer.alloc(0) })
})

test('a form that is cut is an empty body', async () => {
  expect(await decodeBody('multipart/form-data; boundary=x', Buffer.from('--x\r\nno'))).toEqual({ body: {}, files: [] })
})

test('a later step returns parts of the answers before it, whatever their order', () => {
  const value = (path: string): string => `\${1.${path}}`
  const body = {
    content: value('content'),
    items: [{ first: 1 }, value('content'), value('content.tool_use')],
    call: { id: value('content.tool_use.id'), of: value('content.functionCall.functionCall.name') },
    optional: { id: value('content.tool_use.missing?'), name: value('content.tool_use.name?') },
    missing: value('content.tool_use.missing'),
  }
  const [thinking, call, other] = [
    { type: 'thinking' },
    { type: 'tool_use', id: 'c', name: 'n' },
    { functionCall: { name: 'f' } },
  ]
  const values = { model: 'm', answers: [{ content: [thinking, call, other] }] }
  expect(requestOnWire(FORMAT, { body }, false, values).body).toMatchObject({
    content: [thinking, call, other],
    items: [{ first: 1 }, thinking, call, other, call],
    call: { id: 'c', of: 'f' },
    optional: { name: 'n' },
    missing: '',
  })
})
