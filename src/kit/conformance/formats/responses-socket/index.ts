import type { Format } from '../../format.ts'
import { responses } from '../responses/index.ts'
import { grammar } from './grammar.ts'
import { requestLint } from './lint.ts'
import { rules } from './rules.ts'
import { turns } from './turns.ts'

/**
 * OpenAI's responses over a WebSocket (docs/wire/responses.md#sockets). Facts and schemas are the same as over HTTP.
 */
export const responsesSocket: Format = {
  ...responses,
  name: 'responses.socket',
  files: responses.name,
  turns,
  // Only sockets exist below this base URL.
  recognise: () => undefined,
  grammar,
  lint: { ...responses.lint, request: requestLint },
  rules,
}
