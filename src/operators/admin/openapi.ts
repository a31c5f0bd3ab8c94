import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { type AnySchema, descriptionOf, type JsonSchema } from '../../config/schema.ts'
import { COMPLETE_HEADER } from './csv.ts'
import { type Endpoint, roleFor } from './endpoint.ts'
import { withNumberFormats } from './number-formats.ts'
import { PROBLEM_SCHEMA, PROBLEMS, type ProblemType } from './problem.ts'
import { INPUTS, SHAPES } from './shapes.ts'

/** Problems of every request, of requests with input, and of requests with a body. */
const COMMON_PROBLEMS: readonly ProblemType[] = [
  'unauthenticated',
  'api-key-refused',
  'csrf',
  'role-too-low',
  'too-many-requests',
  'overloaded',
  'store-unavailable',
  'internal',
]
const INPUT_PROBLEMS: readonly ProblemType[] = ['invalid-input']
const BODY_PROBLEMS: readonly ProblemType[] = ['too-large']

/** Builds the OpenAPI 3.1 description of the API, from the same schemas that validate requests. */
export function description(endpoints: readonly Endpoint[], version: string): JsonSchema {
  const paths: { [path: string]: { [method: string]: JsonSchema } } = {}
  for (const endpoint of endpoints) (paths[endpoint.path] ??= {})[endpoint.method] = operation(endpoint)
  return {
    openapi: '3.1.0',
    info: { title: 'Interlingua admin API', version },
    servers: [{ url: '/admin/v1' }],
    security: [{ adminToken: [] }, { session: [], csrf: [] }],
    paths: withNumberFormats(paths),
    components: {
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: 'Created by "interlingua admin token".' },
        session: { type: 'apiKey', in: 'cookie', name: 'interlingua_session', description: SESSION },
        csrf: { type: 'apiKey', in: 'header', name: 'x-csrf-token', description: CSRF },
      },
      schemas: withNumberFormats({ Problem: PROBLEM_SCHEMA, ...schemas() }),
    },
  }
}

const SESSION = 'Session of a user who signed in with POST /session; over TLS, the cookie name starts with __Host-.'
const CSRF = 'The csrf value from GET /session; required for all methods except GET and HEAD.'

function operation(endpoint: Endpoint): JsonSchema {
  const { operation, summary, params, query, body, path } = endpoint
  return {
    operationId: operation,
    summary,
    tags: [path.split('/')[1]],
    ...(roleFor(endpoint) === 'admin' ? { description: 'Requires the admin role.' } : {}),
    parameters: [...parameters('path', params), ...parameters('query', query)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(body, 'input') } } } }),
    responses: { ...success(endpoint), ...failures(endpoint) },
  }
}

function parameters(location: 'path' | 'query', schema: AnySchema): JsonSchema[] {
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    readonly properties?: { readonly [name: string]: JsonSchema }
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, one]) => ({
    ...{ name, in: location, required: required.includes(name), schema: one },
    ...(one['type'] === 'array' ? { style: 'form', explode: false } : {}),
    // `?force` without a value means true.
    ...(one['type'] === 'boolean' ? { allowEmptyValue: true } : {}),
  }))
}

const LOCATION_HEADER = { description: 'The path of the created resource.', schema: { type: 'string' } }
const COMPLETE = { description: 'For CSV: `false` if there are more rows than `limit`.', schema: { type: 'string' } }

function success({ answer, status, csv, location, live }: Endpoint): JsonSchema {
  if (answer === undefined && live === undefined) return { [status]: { description: 'Done.' } }
  const schema = answer === undefined ? {} : { schema: jsonSchema(answer, 'output') }
  return {
    [status]: {
      description: live === undefined ? 'Done.' : 'Streamed.',
      ...(location === undefined ? {} : { headers: { location: LOCATION_HEADER } }),
      ...(csv === undefined ? {} : { headers: { [COMPLETE_HEADER]: COMPLETE } }),
      content: {
        ...Object.fromEntries((live ?? ['application/json']).map(type => [type, schema])),
        ...(csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' } } }),
      },
    },
  }
}

function failures({ params, query, body, problems }: Endpoint): JsonSchema {
  const takesInput =
    body !== undefined || [params, query].some(schema => schema !== undefined && parameters('query', schema).length > 0)
  const types = [
    ...COMMON_PROBLEMS,
    ...(takesInput ? INPUT_PROBLEMS : []),
    ...(body === undefined ? [] : BODY_PROBLEMS),
    ...problems,
  ]
  const byStatus = Map.groupBy(new Set(types), type => PROBLEMS[type].status)
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      {
        description: all.map(type => `${type}: ${PROBLEMS[type].title}.`).join(' '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

type Definitions = { [name: string]: v.GenericSchema }

/** Converts a schema to JSON Schema. Named shapes become references. */
function jsonSchema(schema: AnySchema, typeMode: 'input' | 'output', definitions: Definitions = SHAPES): JsonSchema {
  const {
    $schema: _,
    $defs: __,
    ...rest
  } = toJsonSchema(schema as v.GenericSchema, {
    ...{ target: 'draft-2020-12', typeMode, errorMode: 'ignore', definitions },
    overrideSchema: ({ valibotSchema }) => descriptionOf(valibotSchema) ?? null,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  }) as JsonSchema & { $schema?: unknown; $defs?: unknown }
  return rest
}

/** Returns the JSON Schema of each named shape, without a reference to itself. */
const schemas = (): JsonSchema =>
  Object.fromEntries(
    Object.entries(SHAPES).map(([name, schema]) => {
      const { [name]: _, ...others } = SHAPES as Definitions
      return [name, jsonSchema(schema, INPUTS.has(name) ? 'input' : 'output', others)]
    }),
  )
