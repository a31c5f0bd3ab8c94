import { type MediaFacts, protoMediaOf } from '../../facts.ts'
import type { Format } from '../../format.ts'
import { compact, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { contents } from '../contents/index.ts'
import type { ImagesFacts } from '../images/answer.ts'
import type { ImageRequestFacts } from '../images/request.ts'
import { dataIn, isStreamed, partsOf, promptIn, withMedia } from './parts.ts'
import { modalityUsage } from './usage.ts'

/** Returns the images in the parts of a request or an answer. */
const imagesIn = (parts: readonly JsonObject[], withType: boolean): MediaFacts[] =>
  dataIn(parts).map(({ mimeType, data }) => protoMediaOf(withType ? textOf(mimeType) : undefined, String(data)))

function requestFacts(body: JsonObject, path: string): ImageRequestFacts {
  const parts = listOf(body['contents']).flatMap(partsOf)
  const images = imagesIn(parts, true)
  return compact({
    action: images.length > 0 ? 'edits' : 'generations',
    prompt: promptIn(parts),
    images,
    stream: isStreamed(path),
  }) as ImageRequestFacts
}

function answerFacts(body: JsonObject): ImagesFacts {
  const parts = listOf(body['candidates']).flatMap(one => partsOf(objectOf(one)['content'] ?? null))
  return compact({
    images: imagesIn(parts, false),
    usage: modalityUsage(objectOf(body['usageMetadata'])),
  }) as ImagesFacts
}

/** Images over Google's generateContent: the endpoint of conversations, with images in the answers. */
export const contentsImages: Format = {
  ...contents,
  name: 'contents.images',
  work: 'images',
  sharesBaseWith: 'contents',
  request: requestFacts,
  answer: answerFacts,
  ...withMedia('IMAGE'),
}
