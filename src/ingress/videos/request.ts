import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { defined, required, rest, spelling, text, WrongType } from '../fields.ts'
import { FIELDS, FORMAT, readFiles, readNamed } from './pictures.ts'
import { REMIX, requestAt } from './wire.ts'

/**
 * `POST /v1/videos` and `POST /v1/videos/{id}/remix` (FORMATS §11), as JSON or as a form. A remix names no model: it is
 * that of the task it changes.
 */
export const readRequest = (wire: WireRequest): CanonicalRequest =>
  readValidated(
    () => requestAt(wire),
    wire.body,
    () => read(wire),
  )

const TAKEN = new Set(['model', 'prompt', 'seconds', 'size', ...FIELDS])
/** A remix has its model from the task it changes. */
const REMIX_TAKEN = new Set([...TAKEN].filter(field => field !== 'model'))

function read({ path, body, files, unfinished }: WireRequest): CanonicalRequest {
  const remixOf = REMIX.exec(path)?.[1]
  const prompt = text(body['prompt'])
  if (prompt === '' || (prompt === undefined && unfinished !== true)) throw WrongType.instance
  const refused: string[] = []
  return {
    model: remixOf === undefined ? required(text(body['model'])) : '',
    messages: [
      {
        role: 'user',
        content: [
          ...(prompt === undefined ? [] : [{ type: 'text', text: prompt } as const]),
          ...readNamed(body),
          ...readFiles(files ?? []),
        ],
      },
    ],
    output: {
      modalities: ['video'],
      ...readVideo(body, remixOf === undefined ? undefined : decoded(remixOf), refused),
    },
    sampling: {},
    stream: false,
    ...rest(
      FORMAT,
      body,
      remixOf === undefined ? TAKEN : REMIX_TAKEN,
      spelling({ form: files === undefined ? undefined : true }),
      refused,
    ),
  }
}

/** An id as it stands in a path. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

function readVideo(body: JsonObject, remixOf: string | undefined, refused: string[]): Pick<Output, 'video'> {
  const seconds = readSeconds(body['seconds'], refused)
  const isOdd = seconds !== undefined && body['seconds'] !== String(seconds)
  const video = {
    ...defined({ seconds, size: text(body['size']), remixOf }),
    ...(isOdd ? { spelling: { [FORMAT]: { seconds: body['seconds']! } } } : {}),
  }
  return Object.keys(video).length === 0 ? {} : { video }
}

/** A number in a text (FORMATS §11), or bare as some callers write it; any other word is for the upstream to judge. */
function readSeconds(wire: Json | undefined, refused: string[]): number | undefined {
  if (wire == null) return undefined
  if (typeof wire !== 'string' && typeof wire !== 'number') throw WrongType.instance
  const seconds = typeof wire === 'number' ? wire : wire.trim() === '' ? Number.NaN : Number(wire)
  if (Number.isFinite(seconds) && seconds > 0) return seconds
  refused.push('seconds')
  return undefined
}
