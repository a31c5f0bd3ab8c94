import type { MediaPart, Part } from '../../src/canonical/content.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import type { Loose } from './upstreams/index.ts'

/* An upstream's reading of a request, written by hand and independent of the code under test. */

const text = (prompt: string | undefined): Part[] => (prompt === undefined ? [] : [{ type: 'text', text: prompt }])

const media = (kind: 'image' | 'video', use: MediaPart['use'], source: Loose): MediaPart => ({
  type: 'media',
  kind,
  source,
  ...(use === undefined ? {} : { use }),
})

const address = (url: string, mediaType: string | undefined): Loose => ({
  type: 'url',
  url,
  ...(mediaType === undefined ? {} : { mediaType }),
})

const defined = (fields: Loose): Loose =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const SIGNATURES = { '\xff\xd8\xff': 'image/jpeg', BM: 'image/bmp', GIF8: 'image/gif' }
function pictureType(base64: string): string {
  const head = Buffer.from(base64, 'base64').toString('latin1', 0, 4)
  return Object.entries(SIGNATURES).find(([start]) => head.startsWith(start))?.[1] ?? 'image/png'
}

export const UNDERSTOOD: { readonly [format: string]: (wire: WireRequest) => CanonicalRequest } = {
  veo: ({ path, body }: { path: string; body: Loose }) => {
    const [instance] = body.instances
    const { seed, ...look } = body.parameters ?? {}
    const picture = (one: Loose): Loose =>
      one.gcsUri === undefined
        ? { type: 'base64', mediaType: one.mimeType, data: one.bytesBase64Encoded }
        : address(one.gcsUri, one.mimeType)
    const video = (one: Loose): Loose =>
      one.uri === undefined
        ? { type: 'base64', mediaType: one.encoding, data: one.encodedVideo }
        : address(one.uri, one.encoding)
    const content = [
      ...text(instance.prompt),
      ...(instance.image === undefined ? [] : [media('image', undefined, picture(instance.image))]),
      ...(instance.lastFrame === undefined ? [] : [media('image', 'last-frame', picture(instance.lastFrame))]),
      ...(instance.referenceImages ?? []).map(({ image }: Loose) => media('image', 'reference', picture(image))),
      ...(instance.video === undefined ? [] : [media('video', undefined, video(instance.video))]),
    ]
    const { durationSeconds, ...others } = look
    return {
      model: decodeURIComponent(/models\/(.+):predictLongRunning$/.exec(path)![1]!),
      messages: [{ role: 'user', content }],
      output: {
        modalities: ['video'],
        video: defined({ ...others, seconds: durationSeconds }),
      },
      sampling: defined({ seed }),
      stream: false,
    }
  },
  kling: ({ body }: { body: Loose }) => {
    const { model_name, prompt, image, image_tail, negative_prompt, duration, aspect_ratio, mode, ...rest } = body
    const { external_task_id, ...extras } = rest
    const picture = (value: string): Loose =>
      value.startsWith('http')
        ? address(value, undefined)
        : { type: 'base64', mediaType: pictureType(value), data: value }
    const video = {
      ...{ negativePrompt: negative_prompt, aspectRatio: aspect_ratio, quality: mode, reference: external_task_id },
      seconds: duration === undefined ? undefined : Number(duration),
    }
    return {
      model: model_name,
      messages: [
        {
          role: 'user',
          content: [
            ...text(prompt),
            ...(image === undefined ? [] : [media('image', undefined, picture(image))]),
            ...(image_tail === undefined ? [] : [media('image', 'last-frame', picture(image_tail))]),
          ],
        },
      ],
      output: { modalities: ['video'], video: defined(video) },
      sampling: {},
      stream: false,
      ...(Object.keys(extras).length === 0 ? {} : { extras: { kling: extras } }),
    }
  },
}
