import { FLAGS, MESSAGES_VERSION } from '../dialects/messages.ts'
import { modelFields, PROMPT_MODEL_FIELDS } from './model-field-lists.ts'
import type { Endpoint, FormatRow } from './row.ts'

const endpoint = (path: string): Endpoint => ({
  path,
  below: path,
  mark: 'messages',
  headers: ['anthropic-beta'],
  query: ['beta'],
  heartbeat: { event: 'ping', data: '{"type":"ping"}' },
  version: ['anthropic-version', 'msgfmt-version'],
})

/** Open WebUI 0.12 counts tokens at any channel without the version header (2026-12-01). */
const COUNTING: Endpoint = { ...endpoint('/v1/messages/count_tokens'), versionOptional: true }

const TOOLS = 'tools.*.'

/** Paths of a tool that a system turn defines, and of one that a compaction repeats. */
const DEFINITIONS: readonly string[] = [
  'messages.*.content.*.tool.definition.',
  'messages.*.content.*.tool_changes.*.tool.definition.',
]

export const messages: FormatRow = {
  name: { en: 'Messages' },
  upstream: {
    does: ['conversation', 'completion', 'count'],
    versioned: 'path',
    auth: 'x-api-key',
    listing: {
      path: '/v1/models',
      query: { limit: '1000' },
      headers: { 'anthropic-version': MESSAGES_VERSION },
      versionHeader: 'anthropic-version',
    },
  },
  callers: ['conversation'],
  endpoints: [endpoint('/v1/messages'), COUNTING],
  otherPaths: /^\/v1\/messages|\/publishers\/anthropic\//,
  modelFields: modelFields([
    ...PROMPT_MODEL_FIELDS,
    ...PROMPT_MODEL_FIELDS.filter(path => path.startsWith(TOOLS)).flatMap(path =>
      DEFINITIONS.map(definition => definition + path.slice(TOOLS.length)),
    ),
  ]),
  flags: FLAGS,
}
