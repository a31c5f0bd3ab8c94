import { expect, test } from 'vitest'
import type { MediaPart } from '../../../src/canonical/content.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { REQUEST } from '../../builders/requests.ts'
import { FOREIGN } from '../../builders/write-options.ts'

const PATH = ['messages', 0, 'content', 0]
const fileAt = (source: object, more: object = {}): MediaPart =>
  ({ type: 'media', kind: 'file', source, ...more }) as MediaPart

/** Writes a user's file, and returns what the upstream gets of it, with the losses. */
function written(part: MediaPart) {
  const request = { ...REQUEST, messages: [{ role: 'user' as const, content: [part] }] }
  const { wire, losses } = WRITERS['chat']!.request!(request, FOREIGN)
  const content = (wire.body['messages'] as readonly JsonObject[])[0]?.['content']
  return { file: Array.isArray(content) ? content[0]?.file : content, losses }
}

test.each([
  ['by the id of this format', fileAt({ type: 'file-id', format: 'chat', id: 'f' }), { file_id: 'f' }, []],
  [
    'by the id, with its name',
    fileAt({ type: 'file-id', format: 'chat', id: 'f' }, { name: 'a.pdf' }),
    { file_id: 'f', filename: 'a.pdf' },
    [],
  ],
  [
    'by the id, whose type has no field',
    fileAt({ type: 'file-id', format: 'chat', id: 'f', mediaType: 'application/pdf' }),
    { file_id: 'f' },
    [{ kind: 'dropped', path: [...PATH, 'source', 'mediaType'], reason: 'no-media-type-of-ids' }],
  ],
  [
    'as data, with its name',
    fileAt({ type: 'base64', mediaType: 'application/pdf', data: 'QUJD' }, { name: 'a.pdf' }),
    { file_data: 'data:application/pdf;base64,QUJD', filename: 'a.pdf' },
    [],
  ],
  [
    'as data, with a name for it',
    fileAt({ type: 'base64', mediaType: 'application/pdf', data: 'QUJD' }),
    { file_data: 'data:application/pdf;base64,QUJD', filename: 'file' },
    [{ kind: 'added', path: [...PATH, 'name'], became: 'file', reason: 'minted-file-name' }],
  ],
] as const)('a file is written %s', (_, part, file, losses) => {
  expect(written(part)).toEqual({ file, losses })
})

test.each([
  ['by a URL', fileAt({ type: 'url', url: 'https://a.example/a.pdf' }), 'no-file-urls'],
  ['by the id of another format', fileAt({ type: 'file-id', format: 'messages', id: 'f' }), 'no-such-file-ids'],
] as const)('a file %s is dropped', (_, part, reason) => {
  expect(written(part).losses).toContainEqual({ kind: 'dropped', path: PATH, reason })
})
