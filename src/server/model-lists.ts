import type { IncomingMessage } from 'node:http'
import type { Format } from '../canonical/node.ts'
import { familyOf } from './address.ts'

/** A route of a list of models. Each model also has a record below the path. */
interface ModelListRoute {
  readonly path: string
  /** Returns the format of the list. */
  readonly shapeOf: (message: IncomingMessage) => Format
}

/** Lists of models by path (docs/wire/common.md#model-lists). */
export const MODEL_LISTS: readonly ModelListRoute[] = [
  { path: '/v1/models', shapeOf: familyOf },
  { path: '/v1beta/models', shapeOf: () => 'contents' },
  { path: '/inference-profiles', shapeOf: () => 'converse' },
  { path: '/bedrock/inference-profiles', shapeOf: () => 'converse' },
]
