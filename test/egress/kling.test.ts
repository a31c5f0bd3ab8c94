import { describe, expect, test } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { kling as writer } from '../../src/egress/kling/index.ts'
import { kling as reader } from '../../src/ingress/kling/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'

const request = (more: Partial<CanonicalRequest> = {}): CanonicalRequest => ({
  ...{ model: 'm', messages: [{ role: 'user', content: [] }], sampling: {}, stream: false },
  output: { modalities: ['video'], video: { aspectRatio: '16:9' } },
  ...more,
})

describe('a request with an image among the extras alone', () => {
  test('needs no prompt, and has the shape of the image', () => {
    const { wire, losses } = writer.request!(
      request({ extras: { kling: { image: 'https://images.example/a.png' } } }),
      FOREIGN,
    )
    expect(wire).toMatchObject({ path: '/v1/videos/image2video', body: { image: 'https://images.example/a.png' } })
    expect(wire.body).not.toHaveProperty('aspect_ratio')
    expect(losses.map(({ path }) => path)).toEqual([['output', 'video', 'aspectRatio']])
  })

  test('needs a prompt where there is no image at all', () => {
    expect(() => writer.request!(request({ extras: { kling: { image: null } } }), FOREIGN)).toThrow('prompt')
  })
})

test('a native request whose messages were removed is written unchanged', () => {
  const body = { model_name: 'm', prompt: 'a river' }
  const wire = { path: '/videovendor/v1/videos/text2video', query: {}, headers: {}, body }
  const read = reader.request!(wire)
  expect(writer.request!({ ...read, messages: [] }, NATIVE).wire).toMatchObject({ path: '/v1/videos/text2video', body })
})
