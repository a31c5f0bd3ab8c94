import type { Path } from '../../canonical/loss.ts'
import { wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { SETTINGS } from '../../formats/settings/converse.ts'
import { type BodyFields, fieldsOfSettings } from '../body-fields.ts'
import { type Locate, locator, type MessagePaths } from '../locate.ts'
import { FORMAT } from './wire.ts'

/** Locates messages and parts in the body. The system text has a separate field, and cache points occupy indexes. */
export function locate({ messages }: CanonicalRequest): Locate {
  const paths: MessagePaths[] = []
  let turn = -1
  let position = 0
  for (const [index, message] of messages.entries()) {
    const isSystem = index === 0 && wireSourceOf<{ role?: string }>(message, FORMAT)?.wire.role === undefined
    if (!isSystem && message.spelling?.[FORMAT]?.['joined'] !== true) {
      turn++
      position = 0
    }
    const at: Path = isSystem ? ['system'] : ['messages', turn]
    const list: Path = isSystem ? at : [...at, 'content']
    if (isSystem) position = 0
    const parts = message.content.map((part): Path => {
      const path = [...list, position]
      position += part.cache === undefined ? 1 : 2
      return path
    })
    paths.push({ at, parts })
  }
  return locator('messages', paths, ['messages', turn + 1])
}

const MODEL_FIELDS = 'additionalModelRequestFields'

/** Fields in which models of other vendors take an effort. */
const MODEL_EFFORTS = [
  'reasoning_effort',
  'reasoning_config',
  'reasoning/effort',
  'reasoningConfig/maxReasoningEffort',
  'reasoningConfig/type',
].map(field => `${MODEL_FIELDS}/${field}`)

/** Body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  ...fieldsOfSettings(SETTINGS, 'inferenceConfig'),
  'sampling/topK': [`${MODEL_FIELDS}/top_k`],
  'sampling/stop': ['inferenceConfig/stopSequences'],
  'output/text': ['outputConfig/textFormat'],
  reasoning: [`${MODEL_FIELDS}/thinking`, 'outputConfig/effort', ...MODEL_EFFORTS],
  'reasoning/effort': ['outputConfig/effort', `${MODEL_FIELDS}/thinking/type`, ...MODEL_EFFORTS],
  'reasoning/budget': [`${MODEL_FIELDS}/thinking/budget_tokens`, `${MODEL_FIELDS}/thinking/type`],
  'reasoning/show': [`${MODEL_FIELDS}/thinking/display`, `${MODEL_FIELDS}/thinking/type`],
  tools: ['toolConfig/tools'],
  toolChoice: ['toolConfig/toolChoice'],
  'toolChoice/extras/toolChoice': ['toolConfig/toolChoice'],
  'toolChoice/only': ['toolConfig/toolChoice/tool/name', 'toolConfig/toolChoice'],
  metadata: ['requestMetadata'],
  serviceTier: ['serviceTier/type'],
}
