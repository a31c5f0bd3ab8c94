import * as v from 'valibot'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import { GatewayError } from '../../../src/canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { WireFile, WireRequest } from '../../../src/canonical/wire.ts'
import { workOf } from '../../../src/canonical/work.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { bodiesIn } from '../../builders/fixtures.ts'
import { NATIVE } from '../../builders/write-options.ts'
import { journey, upstreamsFor } from '../../laws/journeys.ts'
import { WIRES } from '../../laws/wires.ts'
import { sampled } from '../seeds.ts'
import { Broken, expectSame, type Target, type Watch } from '../target.ts'

/* Requests of callers. A body is read or refused, the schema says the same, and what was read can be written. */

/** A format with several kinds of endpoints has a schema for each. */
interface Schemas {
  readonly request: v.GenericSchema
  requestAt?(wire: WireRequest): v.GenericSchema
}

const FORMATS = Object.keys(READERS).filter(format => READERS[format]!.request !== undefined)

export const REQUESTS: readonly Target[] = await Promise.all(
  FORMATS.map(async (format): Promise<Target> => {
    const schemas = (await import(`../../../src/ingress/${format}/wire.ts`)) as Schemas
    const paths = new Set<string>()
    return {
      name: `request:${format}`,
      inputs: `requests of callers in the format ${format}`,
      files: new RegExp(
        `^src/(ingress/${format}/(?!result|error|[^/]*event|candidate)|formats/settings/${format}\\.ts)`,
      ),
      seeds: seed => {
        const made = sampled(WIRES[format]!.request, seed) as readonly JsonObject[]
        for (const { path } of made) paths.add(path as string)
        return [...made, ...bodiesIn(format, 'request.json').map(body => ({ ...made[0]!, body }))]
      },
      run: (input, watch) => {
        const wire = wireOf(input, paths)
        if (wire !== undefined) check(format, wire, schemas, watch)
      },
    }
  }),
)

function check(format: string, wire: WireRequest, schemas: Schemas, watch: Watch): void {
  const request = read(format, wire, watch)
  const refusal = typeof request === 'string' ? request : undefined
  watch.unmeasured(() => agreesWithSchema(wire, schemas, refusal))
  if (typeof request === 'string') return
  watch.returned(request)
  if (WRITERS[format]!.request !== undefined) watch.unmeasured(() => isUnchanged(format, request, wire))
  const upstreams = upstreamsFor(workOf(request)).filter(one => one !== format)
  if (upstreams.length > 0) journey(format, request, [watch.dice.one(upstreams)])
}

function read(format: string, wire: WireRequest, watch: Watch): CanonicalRequest | string {
  try {
    return READERS[format]!.request!(wire)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.error.kind === 'internal') throw thrown
    watch.said(JSON.stringify(WRITERS[format]!.error!(thrown.error, 'req_1').body))
    return thrown.message
  }
}

/** Message of a refusal for which the schema is to find the field. Others refuse a file, or a conflict of fields. */
const UNEXPLAINED = 'A field of the request has the wrong type.'

function agreesWithSchema(wire: WireRequest, { request, requestAt }: Schemas, refusal: string | undefined): void {
  const issue = v.safeParse(requestAt?.(wire) ?? request, wire.body).issues?.[0]
  if (issue === undefined && refusal === UNEXPLAINED) throw new Broken('schema', 'refused, and the schema sees nothing')
  if (issue !== undefined && refusal === undefined)
    throw new Broken('schema', `read, but the schema sees ${v.getDotPath(issue)}: ${issue.message}`)
}

/** Fields that writers change on purpose in requests of their own format, by format (their docstrings have the reasons). */
const REWRITTEN: { readonly [format: string]: readonly string[] } = {
  kling: ['image', 'image_tail', 'external_task_id', 'model', 'model_name'],
  videos: ['input_reference', 'model'],
}

function isUnchanged(format: string, request: CanonicalRequest, wire: WireRequest): void {
  const { wire: written, losses } = WRITERS[format]!.request!(request, NATIVE)
  const rewritten = REWRITTEN[format] ?? []
  // A writer that changes a field writes the others anew, and those of unknown names only if they have a value.
  const others = (body: JsonObject) =>
    Object.entries(body).filter(
      ([name, value]) => !rewritten.includes(name) && (value !== null || rewritten.length === 0),
    )
  expectSame('native identity', Object.fromEntries(others(written.body)), Object.fromEntries(others(wire.body)))
  const lost = losses.filter(({ path }) => !rewritten.includes(String(path.at(-1))))
  expectSame('native identity', lost, [])
}

/** Returns the request that an input stands for. Undefined for one that never reaches a reader. */
function wireOf(input: Json, paths: ReadonlySet<string>): WireRequest | undefined {
  if (!isObject(input) || !isObject(input['body'])) return undefined
  const { path, query, headers, body, files } = input
  return {
    path: typeof path === 'string' && paths.has(path) ? path : [...paths][0]!,
    query: stringsOf(query),
    headers: stringsOf(headers),
    body: Array.isArray(files) ? textsOf(body) : body,
    ...(Array.isArray(files) ? { files: files.filter(isObject).map(fileOf) } : {}),
  }
}

const stringsOf = (value: Json | undefined): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).flatMap(([name, one]) =>
      typeof one === 'string' ? [[name.toLowerCase(), one]] : [],
    ),
  )

/** The fields of a form: texts, and lists of texts. */
const textsOf = (body: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const texts = [value].flat().filter(one => typeof one === 'string')
      return texts.length === 0 ? [] : [[name, texts.length === 1 ? texts[0]! : texts]]
    }),
  )

const fileOf = ({ field, name, mediaType, bytes }: JsonObject): WireFile => ({
  field: String(field),
  ...(typeof name === 'string' ? { name } : {}),
  mediaType: typeof mediaType === 'string' ? mediaType : 'application/octet-stream',
  bytes: new BufferedBytes(Buffer.from(typeof bytes === 'string' ? bytes : '', 'base64')),
})
