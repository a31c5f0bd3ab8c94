import type { Conversation, Format, RequestOnWire } from '../../format.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { chat } from '../chat/index.ts'
import { contents } from '../contents/index.ts'
import { messages } from '../messages/index.ts'

/* Lists of models, their pages, and the record of one model. A gateway may list its own models. */

/** The properties in which the lists of formats differ. */
interface Listing {
  readonly conversation: Conversation
  readonly page: string
  /** Path of the list, below the base URL. */
  readonly path: string
  /** Names of the list field and the id field, and the prefix of ids. */
  readonly list: string
  readonly id: string
  readonly prefix: string
  /** Query parameters for the page size and for the next page. */
  readonly size?: string
  readonly after?: string
  /** Published schemas of the list and of one model. */
  readonly schemas: readonly [list: string, one: string]
}

const urlOf = (path: string): URL => new URL(path, 'http://kit')

/** Returns the id of the model that a path requests, or undefined for a list. */
function requestedId(path: string, { path: list }: Listing): string | undefined {
  const { pathname } = urlOf(path)
  return pathname === list ? undefined : decodeURIComponent(pathname.slice(list.length + 1))
}

const entriesOf = (body: JsonObject, { list }: Listing): JsonObject[] =>
  (Array.isArray(body[list]) ? listOf(body[list]) : [body]).map(objectOf)

const idsOf = (body: JsonObject, listing: Listing): (Json | undefined)[] =>
  entriesOf(body, listing).map(entry => entry[listing.id])

const rulesOf = ({ conversation, page, prefix, size }: Listing): Rule[] => [
  {
    ...{ id: 'ids', on: 'answer', level: 'must', source: page },
    says: `Every model has a unique id${prefix === '' ? '' : `, which begins with ${prefix}`}.`,
  },
  {
    ...{ id: 'same-model', on: 'answer', level: 'must', source: page },
    says: 'The returned record describes the requested model.',
  },
  ...(size === undefined
    ? []
    : [
        {
          id: 'pages',
          on: 'answer',
          level: 'must',
          source: page,
          says: 'Pages have the requested size, and each continues where the last one ended.',
        } as const,
      ]),
  ...conversation.rules.filter(({ on }) => on === 'error'),
]

function answerLint(body: JsonObject, { path }: RequestOnWire, listing: Listing): readonly Violation[] {
  const violations = new Violations()
  const { prefix, size, after } = listing
  const ids = idsOf(body, listing)
  if (new Set(ids).size < ids.length || ids.some(id => !textOf(id)?.startsWith(prefix) || id === prefix))
    violations.add('ids', `The ids are ${JSON.stringify(ids.slice(0, 20))}.`)
  const modelId = requestedId(path, listing)
  if (modelId && ids[0] !== prefix + modelId)
    violations.add('same-model', `${JSON.stringify(ids[0])} is not ${modelId}.`)
  const query = urlOf(path).searchParams
  const pageSize = Number(size === undefined ? Number.NaN : (query.get(size) ?? Number.NaN))
  if (ids.length > pageSize)
    violations.add('pages', `The page has ${ids.length} models, but ${pageSize} were requested.`)
  if (after !== undefined && ids.includes(query.get(after) ?? ''))
    violations.add('pages', 'A page repeats the last model of the previous page.')
  const { first_id: first, last_id: last } = body
  if (modelId === undefined && after === 'after_id' && (first !== (ids[0] ?? null) || last !== (ids.at(-1) ?? null)))
    violations.add('pages', `first_id and last_id are ${JSON.stringify([first, last])}.`)
  return violations.list
}

function listing(own: Listing): Format {
  const { conversation, path, prefix, size, after, schemas } = own
  return {
    name: `${conversation.name}.models`,
    work: 'models',
    sharesBaseWith: conversation.name,
    base: conversation.base,
    path: () => path,
    headers: conversation.headers,
    ...(conversation.versions === undefined ? {} : { versions: conversation.versions }),
    withModel: body => body,
    recognise: (requested, _, method) => {
      const { pathname } = urlOf(requested)
      const isListRequest = method === 'GET' && (pathname === path || pathname.startsWith(`${path}/`))
      return isListRequest ? { model: requestedId(requested, own) ?? '', stream: false } : undefined
    },
    schemas: {
      answer: requested => schemas[requestedId(requested, own) === undefined ? 0 : 1],
      ...(conversation.schemas.error === undefined ? {} : { error: conversation.schemas.error }),
    },
    exceptions: conversation.exceptions,
    request: (_, requested) => {
      const query = urlOf(requested).searchParams
      return compact({
        list: requestedId(requested, own) === undefined || undefined,
        size: numberOf(Number(query.get(size ?? '') ?? Number.NaN) || undefined),
        goesOn: query.has(after ?? '') || undefined,
      })
    },
    answer: body => compact({ models: idsOf(body, own).map(id => textOf(id)?.slice(prefix.length) ?? null) }),
    error: conversation.error,
    lint: {
      request: () => [],
      answer: (body, _, asked) => answerLint(body, asked, own),
      error: conversation.lint.error,
    },
    rules: rulesOf(own),
  }
}

export const MODEL_LISTS: readonly Format[] = [
  listing({
    ...{ conversation: chat, page: 'https://platform.openai.com/docs/api-reference/models', path: '/models' },
    ...{ list: 'data', id: 'id', prefix: '', schemas: ['ListModelsResponse', 'Model'] },
  }),
  listing({
    ...{ conversation: messages, page: 'https://platform.claude.com/docs/en/api/models/list', path: '/v1/models' },
    ...{ list: 'data', id: 'id', prefix: '', size: 'limit', after: 'after_id' },
    schemas: ['ListResponse_ModelInfo_', 'ModelInfo'],
  }),
  listing({
    ...{ conversation: contents, page: 'https://ai.google.dev/api/models', path: '/v1beta/models' },
    ...{ list: 'models', id: 'name', prefix: 'models/', size: 'pageSize', after: 'pageToken' },
    schemas: ['ListModelsResponse', 'Model'],
  }),
]
