import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ENDPOINTS } from '../../../src/operators/admin/index.ts'
import { description } from '../../../src/operators/admin/openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
const document: any = JSON.parse(JSON.stringify(description(ENDPOINTS, '1.0.0')))

it('describes every endpoint once, with its parameters, its body and its answers', () => {
  const described = Object.entries<object>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
  )
  const row = ({ path, method }: { path: string; method: string }): string => `${method} ${path}`
  expect(described.map(row).sort()).toEqual(ENDPOINTS.map(row).sort())
  expect(new Set(described.map(({ operationId }) => operationId)).size).toBe(ENDPOINTS.length)
  for (const { path, method, operationId, parameters, requestBody, responses } of described) {
    const endpoint = ENDPOINTS.find(one => one.path === path && one.method === method)!
    const inPath = parameters.filter((one: { in: string }) => one.in === 'path')
    expect(inPath.map(({ name }: { name: string }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
    for (const one of inPath) expect(one).toMatchObject({ required: true, schema: { type: 'string' } })
    expect(requestBody === undefined).toBe(endpoint.body === undefined)
    expect(responses[endpoint.status]).toBeDefined()
    if (endpoint.body !== undefined) expect(responses['400'], operationId).toBeDefined()
    expect(responses['401'].content['application/problem+json'].schema.$ref).toBe('#/components/schemas/Problem')
  }
})

it('is a document of OpenAPI 3.1 whose references lead somewhere and whose schemas say something', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: expect.any(String), version: '1.0.0' } })
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { $ref, schema } = value as { $ref?: string; schema?: object }
    if (typeof $ref === 'string') {
      const name = /^#\/components\/schemas\/(\w+)$/.exec($ref)?.[1]
      expect(document.components.schemas, path).toHaveProperty(name!)
    }
    if (schema !== undefined && !path.endsWith('properties'))
      expect(Object.keys(schema).length, path).toBeGreaterThan(0)
    for (const [key, one] of Object.entries(value)) walk(one, `${path}/${key}`)
  }
  walk(document, '')
  expect(document.components.schemas.Key).toMatchObject({
    additionalProperties: false,
    properties: {
      created_at: { type: 'string' },
      budget: { $ref: '#/components/schemas/Budget' },
      models: { type: 'array' },
    },
  })
  const { parameters } = document.paths['/usage'].get
  const byName = Object.fromEntries(parameters.map((one: { name: string }) => [one.name, one]))
  expect(byName['limit'].schema).toEqual({
    ...{ type: 'integer', format: 'int64', minimum: 1, maximum: 10_000, default: 1000 },
  })
  expect(byName['by']).toMatchObject({ explode: false, schema: { type: 'array', items: { enum: expect.any(Array) } } })
  expect(byName['percentiles'].schema).toMatchObject({ type: 'boolean' })
  expect(document.paths['/keys'].post.requestBody.content['application/json'].schema).toMatchObject({
    required: ['name'],
    properties: { expires_at: { anyOf: [{ type: 'string', pattern: expect.any(String) }, { type: 'null' }] } },
  })
})

it('has no nested object that generators of clients name like another schema', () => {
  // openapi-python-client names the object at `budget` of `Key` KeyBudget, and leaves out `Key` if that exists already.
  const { schemas } = document.components
  const clashes: string[] = []
  const walk = (value: { properties?: object; items?: object; anyOf?: object[] }, name: string): void => {
    for (const [field, one] of Object.entries(value.properties ?? {})) {
      const nested = `${name}${field.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`
      if (nested in schemas && !('$ref' in one)) clashes.push(nested)
      walk(one, nested)
    }
    for (const one of [value.items, ...(value.anyOf ?? [])]) if (one !== undefined) walk(one, name)
  }
  for (const name in schemas) walk(schemas[name], name)
  expect(clashes).toEqual([])
})

it('states the width of each number', () => {
  // oapi-codegen reads a number without a format as float32, so that a million tokens or a cost lose digits.
  const bare: string[] = []
  const walk = (value: { type?: unknown; format?: unknown }, path: string): void => {
    if (['number', 'integer'].includes(value.type as string) && value.format === undefined) bare.push(path)
    for (const [key, one] of Object.entries(value))
      if (typeof one === 'object' && one !== null) walk(one, `${path}/${key}`)
  }
  walk(document, '')
  expect(bare).toEqual([])
  expect(document.components.schemas.Budget.properties.day).toMatchObject({ type: 'number', format: 'double' })
})

it('has no constants but texts', () => {
  // openapi-python-client writes those of other types as no Python, and makes no client at all.
  expect(JSON.stringify(document).match(/"const":(?!")[^,}]*/g)).toBeNull()
})

it('is what the documentation lists', () => {
  const rows = [...readFileSync('docs/admin-api.md', 'utf8').matchAll(/^\| `([A-Z]+) (\/\S*)` \|/gm)]
  const listed = rows.map(([, method, path]) => `${method!.toLowerCase()} ${path}`)
  expect(listed.sort()).toEqual(ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort())
})
