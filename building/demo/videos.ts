import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { RecordedBody, Recording } from '../../src/kit/recordings/recording.ts'
import { answerHead, HEAD } from './head.ts'

/* The videos of the demo: a task is queued, in progress with its first poll, and finished with its second. */

const SIZES = ['720x1280', '1280x720', '1792x1024', '1024x1792']
const CREATED = 1_763_801_660
const SECONDS = '4'

/** States that one poll after the other gets, by the end of the task. */
const POLLS = {
  completed: [
    { status: 'in_progress', progress: 50 },
    { status: 'completed', progress: 100, completed_at: CREATED + 3 },
  ],
  failed: [
    { status: 'in_progress', progress: 50 },
    {
      status: 'failed',
      error: { code: 'moderation_blocked', message: 'The request was blocked by the moderation system.' },
    },
  ],
} as const

interface Video {
  readonly id: string
  readonly size: string
  readonly end: keyof typeof POLLS
  readonly model: string
  readonly match: readonly string[]
}

/** @param fixtures folder of the videos. */
export function* demoVideos(fixtures: string): Generator<[string, Recording]> {
  const [usual] = SIZES as [string]
  yield* recordingsOf(fixtures, { id: 'video_any', size: usual, end: 'completed', model: 'replay', match: [] })
  for (const size of SIZES)
    yield* recordingsOf(fixtures, {
      ...{ id: `video_${size}`, size, end: 'completed', model: 'replay', match: ['output.video.size'] },
    })
  yield* recordingsOf(fixtures, {
    ...{ id: 'video_hello', size: usual, end: 'completed', model: 'replay-videos-hello', match: ['model'] },
  })
  yield* recordingsOf(fixtures, {
    ...{ id: 'video_blocked', size: usual, end: 'failed', model: 'replay-videos-blocked', match: ['model'] },
  })
}

function* recordingsOf(fixtures: string, video: Video): Generator<[string, Recording]> {
  const { id, size, end, model, match } = video
  const isGeneral = match.length === 0
  const stem = `videos/${id.replace('video_', '')}`
  const body = { model, prompt: 'A paper boat on a quiet pond.', ...(isGeneral ? {} : { size }), seconds: SECONDS }
  const created = { method: 'POST', path: '/v1/videos', headers: JSON_TYPE, body: { json: body } }
  const first = { ...HEAD, format: 'videos', endpoint: '/v1/videos', match: [...match], request: created }
  yield [`${stem}-create.json`, { ...first, answer: json(taskOf(video, {})) }]
  for (const [index, state] of POLLS[end].entries())
    yield [`${stem}-poll-${index + 1}.json`, about('GET', `/v1/videos/${id}`, json(taskOf(video, state)))]
  yield [
    `${stem}-delete.json`,
    about('DELETE', `/v1/videos/${id}`, json({ id, object: 'video.deleted', deleted: true })),
  ]
  if (end === 'failed') return
  const remix = json(taskOf(video, { remixed_from_video_id: id }))
  yield [`${stem}-remix.json`, about('POST', `/v1/videos/${id}/remix`, remix)]
  const content = `/v1/videos/${id}/content`
  yield [`${stem}-content.json`, about('GET', content, file(fixtures, `${size}-${SECONDS}s.mp4`, 'video/mp4'))]
  const thumbnail = file(fixtures, `${size}.webp`, 'image/webp')
  yield [`${stem}-thumbnail.json`, about('GET', content, thumbnail, { variant: 'thumbnail' })]
}

const JSON_TYPE = { 'content-type': 'application/json' }

const taskOf = ({ id, size, model }: Video, state: JsonObject): JsonObject => ({
  ...{ id, object: 'video', model, status: 'queued', progress: 0, created_at: CREATED, completed_at: null },
  ...{ expires_at: null, seconds: SECONDS, size, remixed_from_video_id: null, error: null },
  ...state,
})

type Answer = NonNullable<Recording['answer']>

const json = (value: JsonObject): Answer => ({ ...answerHead('application/json'), body: { json: value } })

function file(fixtures: string, name: string, type: string): Answer {
  const head = answerHead(type)
  const body: RecordedBody = { base64: readFileSync(join(fixtures, 'videos', name)).toString('base64') }
  return { ...head, headers: { ...head.headers, 'accept-ranges': 'bytes' }, body }
}

/** A request about a task, whatever its body. */
const about = (
  method: string,
  path: string,
  answer: Answer,
  query?: { readonly [name: string]: string },
): Recording => ({
  ...{ ...HEAD, match: ['query.variant'], answer },
  request: { method, path, ...(query === undefined ? {} : { query: { ...query } }), headers: {} },
})
