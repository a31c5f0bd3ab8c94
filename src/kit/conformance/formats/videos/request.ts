import { type MediaFacts, mediaAt } from '../../facts.ts'
import type { FormFile } from '../../format.ts'
import { compact, type Json, type JsonObject, objectOf, textOf } from '../../json.ts'
import { fileFacts } from '../../media/values.ts'
import { actionOf, type VideoAction, videoIn } from './action.ts'

/* Extracts the facts of a request about videos. */

export interface VideoRequestFacts {
  readonly action?: VideoAction
  /** Id of the requested video, which has a different id at the upstream. */
  readonly video?: string
  readonly prompt?: string
  /** Duration as text, as the format states it. */
  readonly seconds?: string
  readonly size?: string
  /** The first image of the video. */
  readonly reference?: MediaFacts
  /** `video`, `thumbnail` or `spritesheet`. */
  readonly variant?: string
}

/** Reads the image from JSON, or from the form fields in which OpenAI's SDK writes an object. */
function referenceIn(body: JsonObject): MediaFacts | undefined {
  const value: Json | undefined = body['input_reference']
  const { image_url: url, file_id: id } = objectOf(value)
  const address = textOf(url ?? id ?? body['input_reference[image_url]'] ?? body['input_reference[file_id]'])
  return address === undefined ? undefined : mediaAt(address)
}

export function requestFacts(
  body: JsonObject,
  path: string,
  files: readonly FormFile[] = [],
  method = 'POST',
): VideoRequestFacts {
  const file = files.find(({ field }) => field === 'input_reference')
  return compact({
    action: actionOf(method, path),
    video: videoIn(path),
    prompt: textOf(body['prompt']),
    seconds: textOf(body['seconds']),
    size: textOf(body['size']),
    reference: file === undefined ? referenceIn(body) : fileFacts(file),
    variant: new URLSearchParams(path.split('?')[1]).get('variant') ?? undefined,
  }) as VideoRequestFacts
}
