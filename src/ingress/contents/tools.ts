import { append } from '../../canonical/append.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, NONE, object, objects, required, text, texts } from '../fields.ts'
import { FORMAT, listed, nodeOf, open, type Remains, remainsOf, single, writtenAs } from './fields.ts'
import { jsonSchemaOf } from './schema.ts'

const HOSTED: { readonly [field: string]: HostedKind } = {
  googleSearch: 'web-search',
  googleSearchRetrieval: 'web-search',
  urlContext: 'web-fetch',
  codeExecution: 'code-execution',
}
const DECLARATIONS = 'functionDeclarations'
const ENTRY = new Set([...Object.keys(HOSTED), DECLARATIONS])

export interface ReadTools {
  readonly tools?: readonly Tool[]
  /** How the tools were grouped: for each entry its fields, with how many functions there are in it. */
  readonly groups?: Json
}

/** Entries hold functions and hosted tools by kind; in canonical each is a tool. */
export function readTools(wire: Json | undefined): ReadTools {
  const entries = objects(listed(wire))
  if (entries === undefined) return {}
  const tools: Tool[] = []
  const groups = entries.map(entry => readEntry(entry, tools))
  return { tools, groups: single(wire) === undefined ? groups : { single: groups } }
}

/** Adds an entry's tools and returns its shape; all its unknown fields are one opaque tool. */
function readEntry(entry: JsonObject, tools: Tool[]): Json {
  const opened = open(entry, ENTRY)
  const { fields } = opened
  const unknown = Object.entries(fields).filter(([field, value]) => !ENTRY.has(field) && value !== null)
  const shape = Object.keys(fields).flatMap((field): Json[] => {
    const value = fields[field]!
    const written = writtenAs(field, opened)
    if (value === null) return [[written, null]]
    if (!ENTRY.has(field)) return []
    const read =
      field === DECLARATIONS ? required(objects(listed(value))).map(readFunction) : [readHosted(field, value)]
    append(tools, read)
    return [[written, field === DECLARATIONS && Array.isArray(value) ? read.length : 'single']]
  })
  if (unknown.length === 0) return shape
  tools.push({ type: 'opaque', format: FORMAT, value: Object.fromEntries(unknown) })
  return [...shape, ['', 'opaque']]
}

const DECLARATION = new Set(['name', 'description', 'parameters', 'parametersJsonSchema'])
const WITHOUT_OPENAPI = new Set(['name', 'description', 'parametersJsonSchema'])

/** A function with its parameters as JSON Schema, whichever of the two dialects they were written in. */
function readFunction(wire: JsonObject): FunctionTool {
  const opened = open(wire, DECLARATION)
  const { fields } = opened
  const own = object(fields['parameters'])
  const json = object(fields['parametersJsonSchema'])
  const parameters = json ?? (own && jsonSchemaOf(own))
  const remains =
    json === undefined ? remainsOf(opened, DECLARATION, { parameters: own }) : remainsOf(opened, WITHOUT_OPENAPI)
  return {
    type: 'function',
    name: required(text(fields['name'])),
    ...defined({ description: text(fields['description']), parameters }),
    ...nodeOf(remains),
  }
}

const SEARCH = new Set(['excludeDomains'])

function readHosted(field: string, value: Json): HostedTool {
  const wire = required(object(value))
  const kind = HOSTED[field]!
  const as = field === 'googleSearchRetrieval' ? field : undefined
  if (field !== 'googleSearch') return { type: 'hosted', kind, ...nodeOf(remainsOf(open(wire, NONE), NONE, { as })) }
  const opened = open(wire, SEARCH)
  const blockedDomains = texts(opened.fields['excludeDomains'])
  return { type: 'hosted', kind, ...defined({ blockedDomains }), ...nodeOf(remainsOf(opened, SEARCH)) }
}

const CONFIG = new Set(['functionCallingConfig'])
const CALLING = new Set(['mode', 'allowedFunctionNames'])

const MODES: { readonly [mode: string]: ToolChoice['mode'] } = { AUTO: 'auto', ANY: 'required', NONE: 'none' }

/** Which tools the model may use; VALIDATED is `auto` with arguments that keep to the schema. */
export function readToolConfig(wire: Json | undefined): { readonly choice?: ToolChoice; readonly remains?: Remains } {
  const config = object(wire)
  if (config === undefined) return {}
  const opened = open(config, CONFIG)
  const calling = object(opened.fields['functionCallingConfig'])
  if (calling === undefined) return { remains: remainsOf(opened, CONFIG, { present: true }) }
  const inner = open(calling, CALLING)
  const mode = text(inner.fields['mode'])
  const only = texts(inner.fields['allowedFunctionNames'])
  const known = mode !== undefined && Object.hasOwn(MODES, mode)
  const remains = remainsOf(inner, CALLING, { mode: known ? undefined : (mode ?? 'absent') })
  return {
    choice: { mode: known ? MODES[mode]! : 'auto', ...defined({ only }) },
    remains: remainsOf(opened, CONFIG, { present: true }, { functionCallingConfig: remains }),
  }
}
